// Pools on a graph in partitions: an instance continues whenever the list that it needs is resident. If ranks
// own the partitions, a pool stays on its origin rank and asks the list's owner for the targets that it
// draws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/batch/run_batches.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/core/clock.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/list_requests.hpp"
#include "engine/samples/pool/batch.hpp"
#include "engine/samples/pool/ranks.hpp"

namespace sluice::samples {
inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

/// One run of a pool job on a graph in partitions.
template <class Job, Executor E>
class PagedPools {
 public:
  /// `link` is null on all ranks or on none; null: data between ranks passes through host memory.
  PagedPools(const Job& job, PagedPlan plan, DeviceRanks* link)
      : job_(job),
        stats_(job.stats),
        device_(job.graph.device),
        ranks_(job.graph.paging.shard),
        cache_(job.graph, *job.pages, std::move(plan), AccessPattern{.picks = 8}),
        items_(job.graph, cache_, job.stats),
        batch_(std::min<std::uint64_t>(cache_.plan().batch, job.instances())),
        memory_(device_, batch_, job.program.sizes()),
        states_(device_, batch_, PoolBatch::kPurpose),
        awaited_(device_, batch_, PoolBatch::kPurpose),
        pieces_(device_, batch_, job.program.sizes()),
        host_awaited_(batch_),
        final_states_(batch_),
        waiting_(cache_.partitions()) {
    if (!ranks_) return;
    const Lists lists{job.program};
    agree_on_memory(ranks_,
                    [&] { questions_.emplace(*ranks_, link, device_, lists, cache_, items_, stats_); });
  }

  void run() {
    const auto batch = [this](Instance first, std::uint64_t count, BatchWriter& writer) {
      first_ = first, count_ = count;
      const double start = seconds_now();
      advance(true);
      do {
        cache_.drain(waiting_, [this](std::span<const std::uint32_t>) { advance(false); });
      } while (ranks_ && request_targets());
      stats_.compute_seconds += seconds_now() - start;
      copy_to_host(device_, final_states_.data(), states_.data(), count_ * sizeof(PoolState));
      for (std::uint64_t i = 0; i < count_; ++i) {
        stats_.steps += job_.program.edges_before(final_states_[i]);
        stats_.mapped_bytes += final_states_[i].in_place_bytes;
      }
      if (job_.sink) job_.write_results(first_, count_, memory_, pieces_, writer);
    };
    run_batches(EqualBatches{batch_, batch, ranks_}, job_.range, job_.options.progress, stats_);
    cache_.count(stats_);
  }

 private:
  void advance(bool first_visit) {
    const VisitPools visit{job_.rows(memory_), job_.program,    first_,     cache_.publish(),
                           states_.data(),     awaited_.data(), first_visit};
    items_.for_each_group(count_, visit, job_.groups());
    copy_to_host(device_, host_awaited_.data(), awaited_.data(), count_ * sizeof(Vertex));
    std::fill(waiting_.begin(), waiting_.end(), 0);
    for (std::uint64_t i = 0; i < count_; ++i)
      if (host_awaited_[i] != kNoVertex) ++waiting_[cache_.plan().partitions.owner(host_awaited_[i])];
  }

  /// Asks the owners of the lists for which pools still wait, and answers other ranks; false if no pool of
  /// any rank waits.
  bool request_targets() {
    using Waiting = WaitingPools<typename Job::Sampler>;
    if (!questions_->visit(Waiting{job_.rows(memory_), states_.data(), awaited_.data(), first_}, count_))
      return false;
    advance(false);
    return true;
  }

  using Lists = PoolLists<typename Job::Sampler>;

  const Job& job_;
  RunStats& stats_;
  const Device& device_;
  Communicator* ranks_;
  PartitionCache cache_;
  PagedItems<E> items_;
  std::uint64_t batch_;
  PoolBatch memory_;
  Buffer<PoolState> states_;
  Buffer<Vertex> awaited_;
  PoolPieces pieces_;
  ChargedVector<Vertex> host_awaited_;
  ChargedVector<PoolState> final_states_;
  std::vector<std::uint64_t> waiting_;  ///< [partitions] pools that wait
  std::optional<ListRequests<E, Lists>> questions_;
  Instance first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples
