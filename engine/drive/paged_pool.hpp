// Pools on a graph in partitions: every instance goes on whenever the list that it needs is here. Where ranks
// own the partitions, a pool stays at home and asks the list's owner for the one target that it draws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/host_array.hpp"
#include "engine/drive/edge_questions.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/pool_wave.hpp"
#include "engine/drive/shard.hpp"
#include "engine/exec/threads.hpp"
#include "engine/select/group.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// The host's way to work on a wave.
template <class Job>
struct HostPools {
  const Job& job;

  void visit(Instance first, std::uint64_t count, const PoolRows& rows, const PoolVisits& visits) const {
    parallel_blocks(job.graph.device.threads(), count, 16,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      for (std::uint64_t i = from; i < to; ++i)
                        rows.visit(SingleLane{}, job.program, first + i, i, visits);
                    });
  }
  /// Targets of edges of a partition that is here.
  void read(const PageView& page, std::span<const EdgeIndex> positions, std::span<Vertex> targets) const {
    parallel_blocks(job.graph.device.threads(), positions.size(), 1u << 12,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      for (std::uint64_t i = from; i < to; ++i) targets[i] = page.targets[positions[i]];
                    });
  }
};

/// One run; `Backend` is HostPools or CudaPools.
template <class Job, class Backend>
class PagedPools {
 public:
  PagedPools(const Job& job, const Backend& backend, RunStats& stats)
      : job_(job),
        backend_(backend),
        stats_(stats),
        device_(job.graph.device),
        ranks_(job.graph.paging.shard),
        pages_(job.graph),
        loop_(
            job.graph, pages_,
            plan_shard(ranks_, device_, job.graph.graph, job.graph.paging, pages_.columns,
                       job.bytes_per_instance() + kParkedPoolBytes, job.end - job.begin, job.program.length),
            PageUse{.picks = 8}, stats),
        wave_(std::min<std::uint64_t>(loop_.plan().wave, job.end - job.begin)),
        memory_(device_, wave_, job.program.pool_size, job.program.length),
        states_(device_, wave_, PoolWave::kPurpose),
        waits_at_(device_, wave_, PoolWave::kPurpose),
        pieces_(device_, wave_, job.program.pool_size, job.program.length),
        at_(wave_),
        done_(wave_),
        waiting_(loop_.partitions()) {
    const PartitionPlan& plan = loop_.plan().partitions;
    const auto& offsets = job.graph.graph.out.offsets;
    for (const std::uint64_t boundary : plan.boundaries()) first_edges_.push_back(offsets[boundary]);
    if (!ranks_) return;
    std::vector<EdgeIndex> by_rank;
    for (int rank = 0; rank < ranks_->size(); ++rank)
      by_rank.push_back(first_edges_[OwnedPartitions::of(plan.size(), rank, ranks_->size()).begin]);
    by_rank.push_back(first_edges_.back());
    questions_.emplace(*ranks_, std::move(by_rank), stats);
  }

  void run() {
    for (Instance first = job_.begin; any_left(ranks_, job_.end - first, "the ranks' pools");
         first += count_, ++stats_.waves) {
      first_ = first;
      count_ = std::min<std::uint64_t>(wave_, job_.end - first);
      const double start = seconds_now();
      go_on(true);
      do {
        loop_.drain(waiting_, [this](std::span<const std::uint32_t>) { go_on(false); });
      } while (ranks_ && ask());
      stats_.compute_seconds += seconds_now() - start;
      copy_to_host(device_, done_.data(), states_.data(), count_ * sizeof(PoolState));
      for (std::uint64_t i = 0; i < count_; ++i) {
        stats_.steps += done_[i].step;
        stats_.mapped_bytes += std::uint64_t{done_[i].in_place} * kTargetBytes;
      }
      if (count_ == 0) continue;
      if (job_.sink) job_.leave(first_, count_, memory_, pieces_, stats_);
      if (job_.options.progress) job_.options.progress(first + count_ - job_.begin, job_.end - job_.begin);
    }
    pieces_.writer.finish();
    loop_.count();
  }

 private:
  void go_on(bool begins) {
    backend_.visit(first_, count_, Job::rows(memory_),
                   PoolVisits{{loop_.publish()}, states_.data(), waits_at_.data(), begins});
    copy_to_host(device_, at_.data(), waits_at_.data(), count_ * sizeof(Vertex));
    std::fill(waiting_.begin(), waiting_.end(), 0);
    for (std::uint64_t i = 0; i < count_; ++i)
      if (at_[i] != kNoVertex) ++waiting_[loop_.plan().partitions.owner(at_[i])];
  }

  /// Asks other ranks for what the pools still wait for, and answers what they ask; false when nobody waits
  /// any more.
  bool ask() {
    copy_to_host(device_, done_.data(), states_.data(), count_ * sizeof(PoolState));
    std::vector<EdgeIndex> edges;
    for (std::uint64_t i = 0; i < count_; ++i)
      if (at_[i] != kNoVertex) edges.push_back(done_[i].edge);
    if (!any_left(ranks_, edges.size(), "pools under way")) return false;
    std::vector<Vertex> targets(edges.size());
    questions_->ask(edges, targets, [this](std::span<const EdgeIndex> asked, std::span<Vertex> found) {
      answer(asked, found);
    });
    auto target = targets.begin();
    for (std::uint64_t i = 0; i < count_; ++i)
      if (at_[i] != kNoVertex) done_[i].target = *target++;
    copy_to_device(device_, states_.data(), done_.data(), count_ * sizeof(PoolState));
    go_on(false);
    return true;
  }

  /// Reads targets of this rank's edges, as their partitions come.
  void answer(std::span<const EdgeIndex> edges, std::span<Vertex> targets) {
    constexpr const char* kPurpose = "questions of other ranks";
    const auto partition_of = [this](EdgeIndex edge) {
      const auto next = std::upper_bound(first_edges_.begin(), first_edges_.end(), edge);
      return static_cast<std::size_t>(next - first_edges_.begin()) - 1;
    };
    std::vector<std::uint64_t> asked(loop_.partitions(), 0), places(loop_.partitions() + std::size_t{1}, 0);
    for (const EdgeIndex edge : edges) ++asked[partition_of(edge)];
    for (std::size_t p = 0; p < asked.size(); ++p) places[p + 1] = places[p] + asked[p];
    HostArray<EdgeIndex> sorted(edges.size(), kPurpose);
    HostArray<std::uint64_t> order(edges.size(), kPurpose);
    HostArray<Vertex> found(edges.size(), kPurpose);
    std::vector<std::uint64_t> next = places;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::uint64_t to = next[partition_of(edges[i])]++;
      sorted[to] = edges[i], order[to] = i;
    }
    loop_.drain(asked, [&](std::span<const std::uint32_t> here) {
      for (const std::uint32_t partition : here) {
        const std::uint64_t from = places[partition], count = asked[partition];
        backend_.read(loop_.page(partition), sorted.span().subspan(from, count),
                      found.span().subspan(from, count));
        asked[partition] = 0;
      }
    });
    for (std::size_t i = 0; i < edges.size(); ++i) targets[order[i]] = found[i];
  }

  const Job& job_;
  const Backend& backend_;
  RunStats& stats_;
  const Device& device_;
  Communicator* ranks_;
  PageRequest pages_;
  PageLoop loop_;
  std::uint64_t wave_;
  PoolWave memory_;
  Buffer<PoolState> states_;
  Buffer<Vertex> waits_at_;
  PoolPieces pieces_;
  ChargedVector<Vertex> at_;
  ChargedVector<PoolState> done_;
  std::vector<std::uint64_t> waiting_;  ///< [partitions] pools that wait
  std::vector<EdgeIndex> first_edges_;  ///< [partitions + 1]
  std::optional<EdgeQuestions> questions_;
  Instance first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice
