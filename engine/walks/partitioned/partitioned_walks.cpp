#include "engine/walks/partitioned/partitioned_walks.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/batch_rows.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/partitioned/exchange.hpp"

namespace sluice {

namespace {

class PartitionedWalks {
 public:
  PartitionedWalks(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                   const WalkOptions& options, WalkSink* sink, RunStats& stats, InstanceRange range,
                   PagedPlan plan, const MakeQueues& make);

  void run_all(InstanceRange range);

  // For run_batches: ranks make as many batches.
  bool more(std::uint64_t) const { return batch_ < origins_.batches(); }
  std::uint64_t next(std::uint64_t left);
  void run(Instance first, std::uint64_t count, BatchWriter& writer);

 private:
  std::uint64_t per_origin() const { return cache_.plan().batch; }
  std::uint32_t leg() const { return static_cast<std::uint32_t>(cache_.plan().leg); }
  const ActiveWalks& batch() const { return queues_->batch(); }
  /// Rows come to their rank from GPU to GPU, whole.
  bool whole_rows() const { return exchange_ && exchange_->between_gpus(); }
  void walk_batch(BatchWriter& writer);
  void walk_leg();
  void walk_own();
  /// Walks that wait for partitions of this rank.
  std::uint64_t waiting_own() const;
  void work(std::span<const std::uint32_t> keys);

  ResidentGraph::Impl& graph_;
  const WalkOptions& options_;
  WalkSink* sink_;
  RunStats& stats_;
  Communicator* ranks_;
  PartitionCache cache_;
  BatchOrigins origins_;
  std::unique_ptr<WalkQueues> queues_;
  std::unique_ptr<WalkExchange> exchange_;  ///< null: this rank is alone
  std::optional<BatchRows> rows_;
  std::uint64_t batch_ = 0;
};

PartitionedWalks::PartitionedWalks(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                                   const WalkOptions& options, WalkSink* sink, RunStats& stats,
                                   InstanceRange range, PagedPlan plan, const MakeQueues& make)
    : graph_(graph),
      options_(options),
      sink_(sink),
      stats_(stats),
      ranks_(graph.paging.shard),
      cache_(graph, pages, std::move(plan), PageUse{.picks = 1, .steps = options.length}),
      origins_(graph.device, ranks_, range.begin, range.end, cache_.plan().batch),
      queues_(make(origins_.capacity(), leg(), cache_.partitions() + 2)) {
  ActiveWalks& batch = queues_->batch();
  batch.own_begin = cache_.own().begin, batch.own_end = cache_.own().end;
  batch.origins = origins_.firsts(), batch.origin_counts = origins_.counts(), batch.per_origin = per_origin();
  batch.starts = starts;
  batch.length = options.length;
  batch.partitions = cache_.partitions();
  if (ranks_)
    exchange_ = std::make_unique<WalkExchange>(*ranks_, graph.device, *queues_, cache_.partitions());
  rows_.emplace(graph.device, origins_, whole_rows() ? nullptr : ranks_, per_origin(), options.length, leg(),
                sink, stats);
}

void PartitionedWalks::run_all(InstanceRange range) {
  run_batches(*this, range, options_.progress, stats_);
  stats_.steps += queues_->steps(), stats_.selections += queues_->steps();
  stats_.selection_iterations += queues_->rounds();
  stats_.mapped_bytes += queues_->read();
  stats_.kernels += queues_->times();
  if (exchange_) stats_.exchanged_bytes += exchange_->bytes_between_gpus();
  cache_.count(stats_);
}

std::uint64_t PartitionedWalks::next(std::uint64_t) {
  origins_.begin(batch_++);
  return origins_.own_count();
}

void PartitionedWalks::run(Instance, std::uint64_t, BatchWriter& writer) {
  const double start = seconds_now(), left = stats_.transfer_seconds + stats_.write_seconds;
  walk_batch(writer);
  if (whole_rows() && sink_)
    exchange_->send_to_origins(queues_->paths(), per_origin() * (std::uint64_t{options_.length} + 1), stats_);
  stats_.compute_seconds += seconds_now() - start - (stats_.transfer_seconds + stats_.write_seconds - left);
  rows_->leave(queues_->paths(), writer);
}

/// Leg by leg. What the last one made is still on the device.
void PartitionedWalks::walk_batch(BatchWriter& writer) {
  ActiveWalks& batch = queues_->batch();
  batch.from = 0, batch.until = std::min(leg(), options_.length);
  queues_->publish(cache_);
  queues_->begin(origins_.capacity());
  walk_leg();
  while (batch.until < options_.length) {
    rows_->leave_leg(queues_->paths(), batch.from, batch.until, writer);
    batch.from = batch.until, batch.until += std::min(leg(), options_.length - batch.until);
    queues_->publish(cache_);
    queues_->begin_leg();
    walk_leg();
  }
}

void PartitionedWalks::walk_leg() {
  do {
    walk_own();
  } while (exchange_ && exchange_->hand_over(waiting_own(), stats_));
}

std::uint64_t PartitionedWalks::waiting_own() const {
  const std::span<const std::uint64_t> waiting = queues_->waiting();
  const OwnedPartitions& own = cache_.own();
  return std::reduce(waiting.begin() + own.begin, waiting.begin() + own.end,
                     waiting[queues_->batch().pairs()]);
}

/// Works until half of the walks that waited for partitions of this rank have gone; alone, until all have.
void PartitionedWalks::walk_own() {
  // A walk that has left for another rank is gone for a while, and the last walks would bring every partition
  // for a few of them: half of what waited stays for the next time. Four H200s with slots for a third of
  // their part of a graph of scale 24 took 13 s so, and without it had not ended after 60.
  const std::uint64_t keep = exchange_ ? waiting_own() / 2 : 0;
  for (;;) {
    cache_.drain(
        queues_->waiting(), [this](std::span<const std::uint32_t> present) { work(present); }, keep);
    if (waiting_own() <= keep) return;
    // Most of what still waits needs two partitions at once: those of one walk come, and walks that can go on
    // do.
    const auto [own, asked] = queues_->first_pair();
    const PartitionPlan& plan = cache_.plan().partitions;
    const std::array<std::uint32_t, 2> wanted{plan.owner(own), plan.owner(asked)};
    const std::uint32_t key = batch().pairs();
    cache_.bring_together(wanted, queues_->waiting(), [&] { work({&key, 1}); });
  }
}

void PartitionedWalks::work(std::span<const std::uint32_t> keys) {
  queues_->publish(cache_);
  queues_->advance(keys);
}

}  // namespace

void walk_in_partitions(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                        const WalkOptions& options, RunStats& stats, Instance begin, Instance end,
                        WalkSink* sink, std::uint64_t bytes_per_walk, const MakeQueues& make) {
  const InstanceRange range{begin, end};
  const std::uint64_t row_bytes = (std::uint64_t{options.length} + 1) * sizeof(Vertex);
  // Every rank holds the walks of all.
  const auto origins = static_cast<std::uint64_t>(graph.paging.shard ? graph.paging.shard->size() : 1);
  PagedPlan plan = graph.share_memory(pages.columns, (bytes_per_walk + row_bytes) * origins, end - begin,
                                      options.length, row_bytes);
  if (graph.device.plans()) return;
  PartitionedWalks(graph, pages, starts, options, sink, stats, range, std::move(plan), make).run_all(range);
}

}  // namespace sluice
