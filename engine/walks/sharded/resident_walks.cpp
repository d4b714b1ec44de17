#include "engine/walks/sharded/resident_walks.hpp"

#include <numeric>
#include <optional>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

namespace sluice {

ResidentWalks::ResidentWalks(ResidentGraph::Impl& graph, ShardJob& job, const PageRequest& pages,
                             StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                             Instance end, PagedPlan plan)
    : graph_(graph),
      job_(job),
      options_(options),
      stats_(stats),
      ranks_(*graph.paging.shard),
      origins_(graph.device, &ranks_, begin, end, plan.batch),
      cache_(graph, pages, std::move(plan), PageUse{.picks = 1, .steps = options.length}),
      rows_(job.make_rows(graph.device, origins_.capacity() * (std::uint64_t{options.length} + 1))) {
  const auto owners = ranks_of_keys(ranks_, cache_.partitions());
  for (unsigned half = 0; half < job_.halves(); ++half) {
    const ShardSetup setup{graph.device, ranks_, origins_.capacity(), options.length,
                           owners,       half,   job_.halves()};
    halves_.push_back(job_.make_half(setup, *rows_));
  }
  ActiveWalks& batch = job_.batch();
  batch.own_begin = cache_.own().begin, batch.own_end = cache_.own().end;
  batch.origins = origins_.firsts(), batch.origin_counts = origins_.counts();
  batch.per_origin = cache_.plan().batch;
  batch.starts = starts;
  batch.length = batch.until = options.length;
  batch.partitions = cache_.partitions();
}

void ResidentWalks::run_all(InstanceRange range, WalkSink* sink) {
  for (const auto& half : halves_) half->connect();
  leaving_.emplace(graph_.device, origins_, job_.rows_in_parts() ? &ranks_ : nullptr, cache_.plan().batch,
                   options_.length, options_.length, sink, stats_);
  const double loading = seconds_now();
  hold({});
  stats_.load_seconds += seconds_now() - loading;
  run_batches(*this, range, options_.progress, stats_);
  for (const auto& half : halves_) {
    stats_.steps += half->steps(), stats_.selections += half->steps();
    stats_.selection_iterations += half->rounds();
    stats_.exchange_seconds += half->exchange_seconds();
  }
  stats_.exchange_seconds += rows_->seconds();
  stats_.exchanged_bytes += job_.bytes_sent();
  cache_.count(stats_);
}

std::uint64_t ResidentWalks::next(std::uint64_t) {
  origins_.begin(batch_++);
  return origins_.own_count();
}

void ResidentWalks::run(Instance, std::uint64_t, BatchWriter& writer) {
  ranks_.barrier("a batch of walks");
  const double start = seconds_now();
  walk_batch();
  stats_.compute_seconds += seconds_now() - start;
  leaving_->leave(rows_->data(), writer);
}

/// Halves take turns: the host waits for what one of them hands over while the other works.
void ResidentWalks::walk_batch() {
  std::vector<bool> left(halves_.size(), true);
  rows_->clear();
  for (const auto& half : halves_) half->begin();
  for (std::uint64_t turn = 0; std::ranges::find(left, true) != left.end(); ++turn) {
    const std::size_t h = turn % halves_.size();
    if (left[h]) left[h] = superstep(static_cast<unsigned>(h), turn >= halves_.size());
  }
  rows_->send_to_origins(cache_.plan().batch * (std::uint64_t{options_.length} + 1));
}

/// Walks of a half change hands and go on; false when all ranks have none of them left. `begun`: they were
/// worked on before.
bool ResidentWalks::superstep(unsigned h, bool begun) {
  ShardWalks& walks = *halves_[h];
  const Crossing crossing = walks.exchange();
  stats_.entries_sent += crossing.sent, stats_.entries_received += crossing.received;
  if (crossing.left == 0) return false;
  if (job_.asks() && begun && crossing.travelled == 0) bring_pair(crossing.records > 0);
  walks.advance();
  ++stats_.rounds;
  return true;
}

/// All walks that are left need a list of another rank beside their own: that of one of them comes, and
/// walks that can go on do.
void ResidentWalks::bring_pair(bool some) {
  if (some) hold({cache_.plan().partitions.owner(halves_[0]->first_pair().second)});
  ranks_.barrier("lists of other ranks");
}

/// Makes this rank's partitions visible, and `more` beside them.
void ResidentWalks::hold(std::vector<std::uint32_t> more) {
  const OwnedPartitions own = cache_.own();
  const std::size_t others = more.size();
  more.resize(others + own.end - own.begin);
  std::iota(more.begin() + static_cast<std::ptrdiff_t>(others), more.end(), own.begin);
  cache_.hold(more);
  job_.publish(cache_);
}

bool walk_resident_shard(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                         const WalkOptions& options, RunStats& stats, Instance begin, Instance end,
                         WalkSink* sink, bool asks, std::uint64_t slot_bytes,
                         FunctionRef<ShardJob*(Communicator&)> connect) {
  Communicator& ranks = *graph.paging.shard;
  const std::uint64_t bytes =
      (asks ? kShardWalkBytes<true> : kShardWalkBytes<false>)+(std::uint64_t{options.length} + 1) *
      sizeof(Vertex);
  auto plan = plan_resident_shard(ranks, graph.device, graph.graph, graph.paging, pages.columns, bytes,
                                  end - begin, asks, 0, slot_bytes);
  if (!plan) return false;
  if (graph.device.plans()) {
    graph.note({*std::move(plan), pages.columns, end - begin, options.length, true});
    return true;
  }
  ShardJob* const job = connect(ranks);
  if (!job) return false;
  std::optional<ResidentWalks> walks;
  try {
    together(&ranks, [&] {
      walks.emplace(graph, *job, pages, starts, options, stats, begin, end, *std::move(plan));
    });
  } catch (const BudgetError&) {
    job->abort();  // one rank's is gone
    return false;  // of all ranks: queues take less
  }
  walks->run_all({begin, end}, sink);
  return true;
}

}  // namespace sluice
