// Batches of samples on a graph in partitions, for both backends: the work of each depth follows the
// partitions as they become resident.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// A job of run_batches. `Grower` grows one batch at a time:
///   Grower(setup, cache)     with the run's setup and its partitions
///   grow(first, count)       throws BudgetError if the batch does not fit, on all ranks or on none
///   emit(first, count, sink, writer)
///   bytes()                  device memory that its batches occupy
/// A batch that does not fit is grown again, with less of the memory used for slots.
template <class Grower, class Setup>
class PartitionedSamples {
 public:
  PartitionedSamples(const Setup& setup, const PageRequest& pages, std::uint64_t bytes_per_instance,
                     std::uint32_t depths, SampleSink* sink)
      : setup_(setup),
        graph_(setup.graph),
        ranks_(graph_.paging.shard),
        pages_(pages),
        bytes_per_instance_(bytes_per_instance),
        depths_(depths),
        sink_(sink) {}

  bool has_more(std::uint64_t left) const { return any_left(ranks_, left, "the ranks' samples"); }

  std::uint64_t next_size(std::uint64_t left) {
    submitted_ = 0, grown_ = false;
    if (cache_) return batch_;
    cache_.emplace(graph_, pages_, graph_.plan_partitions(pages_, bytes_per_instance_, left, depths_),
                   AccessPattern{.picks = kPicks, .visits_once = true});
    agree_on_memory(ranks_, [&] { grower_.emplace(setup_, *cache_); });
    return batch_ = cache_->plan().batch;
  }

  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    submitted_ = writer.submitted();
    grower_->grow(first, count);
    grown_ = true;
    if (sink_ && count > 0) grower_->emit(first, count, *sink_, writer);
  }

  /// False if not even the plan fits, results were already submitted, or other ranks have continued.
  bool shrink(std::uint64_t, const BatchWriter& writer) {
    if (!cache_ || (grown_ && (ranks_ || writer.submitted() != submitted_))) return false;
    grower_.reset(), cache_.reset();
    bytes_per_instance_ *= 2;
    failed_ = true;
    return true;
  }

  /// Doubles the batch while it takes little memory: the bytes per instance are a guess at first.
  void finished(std::uint64_t) {
    cache_->count(setup_.stats);
    const std::uint64_t usable = graph_.device.memory().available() + grower_->bytes();
    if (!failed_ && grower_->bytes() <= usable / 4) batch_ *= 2;
  }

 private:
  /// A visit to a list costs as much as this many picks in separate lists: its picks share pages. With 4, not
  /// 8, 65,536 seeds with fan-outs 15 and 10 took 12.6 ms, not 17; by weight 25, not 47 (H100, Kronecker 22).
  static constexpr double kPicks = 4;

  const Setup& setup_;
  ResidentGraph::Impl& graph_;
  Communicator* ranks_;
  const PageRequest& pages_;
  std::uint64_t bytes_per_instance_;
  std::uint32_t depths_;
  SampleSink* sink_;
  std::optional<PartitionCache> cache_;
  std::optional<Grower> grower_;
  std::uint64_t batch_ = 0, submitted_ = 0;
  bool grown_ = false, failed_ = false;
};

/// `run` is an InstanceRun, `setup` a PagedSetup. Without `setup.link`, ranks with GPUs make a link for the
/// run.
template <class Grower, class Run, class Setup>
void run_partitioned_samples(const Run& run, Setup setup, const PageRequest& pages,
                             std::uint64_t bytes_per_instance, std::uint32_t depths) {
  if (run.graph.device.is_planning()) {
    run.graph.plan_partitions(pages, bytes_per_instance, run.instances(), depths);
    return;
  }
  const auto link = setup.link ? nullptr : run.graph.connect_ranks();
  if (link) setup.link = link.get();
  run_batches(PartitionedSamples<Grower, Setup>(setup, pages, bytes_per_instance, depths, run.sink),
              run.range, run.options.progress, run.stats);
  if (link) run.stats.exchanged_bytes += link->bytes_sent();
}

}  // namespace sluice::samples
