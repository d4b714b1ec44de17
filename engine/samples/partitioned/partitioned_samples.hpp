// Batches of samples on a graph in partitions: each depth of a batch as its partitions come. Once for both
// backends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// A job of run_batches. `Grower` grows one batch at a time:
///   Grower(setup, cache)     what it works with, and its partitions
///   grow(first, count)       throws BudgetError where the batch does not fit, on all ranks or on none
///   emit(first, count, sink, writer)
///   bytes()                  device memory that its batches have taken
/// A batch that does not fit is grown again with less of the memory for slots.
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

  bool more(std::uint64_t left) const { return any_left(ranks_, left, "the ranks' samples"); }

  std::uint64_t next(std::uint64_t left) {
    submitted_ = 0, grown_ = false;
    if (cache_) return batch_;
    cache_.emplace(graph_, pages_, graph_.share_memory(pages_.columns, bytes_per_instance_, left, depths_),
                   PageUse{.picks = kPicks, .once = true});
    together(ranks_, [&] { grower_.emplace(setup_, *cache_); });
    return batch_ = cache_->plan().batch;
  }

  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    submitted_ = writer.submitted();
    grower_->grow(first, count);
    grown_ = true;
    if (sink_ && count > 0) grower_->emit(first, count, *sink_, writer);
  }

  /// Not if not even the plan fits, or results have begun to leave, or other ranks have gone on.
  bool smaller(std::uint64_t, const BatchWriter& writer) {
    if (!cache_ || (grown_ && (ranks_ || writer.submitted() != submitted_))) return false;
    grower_.reset(), cache_.reset();
    bytes_per_instance_ *= 2;
    failed_ = true;
    return true;
  }

  /// What an instance takes is a guess at first.
  void ran(std::uint64_t) {
    cache_->count(setup_.stats);
    const std::uint64_t usable = graph_.device.memory().available() + grower_->bytes();
    if (!failed_ && grower_->bytes() <= usable / 4) batch_ *= 2;
  }

 private:
  /// Of a visit, as dear as so many in as many lists: those of one list are in few pages. With 4 in place of
  /// 8 65,536 seeds of 15 and 10 neighbours took 12.6 ms for 17, by weight 25 for 47 (H100, Kronecker 22).
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

/// `run` is an InstanceRun, `setup` a PagedSetup; where that has no link, the one between GPUs of ranks is
/// made.
template <class Grower, class Run, class Setup>
void run_partitioned_samples(const Run& run, Setup setup, const PageRequest& pages,
                             std::uint64_t bytes_per_instance, std::uint32_t depths) {
  if (run.graph.device.plans()) {
    run.graph.share_memory(pages.columns, bytes_per_instance, run.instances(), depths);
    return;
  }
  const auto link = setup.link ? nullptr : run.graph.link();
  if (link) setup.link = link.get();
  run_batches(PartitionedSamples<Grower, Setup>(setup, pages, bytes_per_instance, depths, run.sink),
              run.range, run.options.progress, run.stats);
  if (link) run.stats.exchanged_bytes += link->bytes_sent();
}

}  // namespace sluice::samples
