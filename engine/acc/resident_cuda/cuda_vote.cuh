// Votes on a GPU. Rounds (vote.cuh) run inside one persistent kernel, and long runs of small rounds in one
// cluster; or in kernels as --fusion says. Over ranks, one kernel runs all rounds but a cluster's
// (peer_vote.cuh).
#pragma once

#include "engine/acc/resident_cuda/peer_vote.cuh"
#include "engine/acc/resident_cuda/small_frontier.cuh"

namespace sluice::acc {

// ---- kernels

template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock, kRoundBlocks) vote_rounds_kernel(View view) {
  const cuda::GridTeam grid;
  const auto round = [&](const auto& team, const typename View::Round& now) {
    if constexpr (View::Peers::kSingleRank) {
      return vote_round<kPhases>(team, view, now);
    } else {
      return peer_round(team, view, now);
    }
  };
  auto now = *view.state;
  grid.sync();
  if constexpr (!View::Peers::kSingleRank) {
    if (now.unsent != 0 && now.active > 0) now = send_found(grid, view, now);
  }
  if constexpr ((kPhases & kOneRound) != 0) {
    now = round(grid, now);
  } else {
    while (now.active > 0 && contains<kPhases>(now.pull)) {
      if constexpr ((kPhases & kPushes) != 0) {
        if (now.blocks == kOneCluster) {
          // Long lists are too much work for four lanes. (All threads of the grid read the same sizes: this
          // round's lists are complete.)
          const unsigned* const sizes = view.work.buffers(now.round).counts->sizes;
          if (load(sizes + 1) + load(sizes + 2) == 0) break;
          now.small_rounds = 0;
          now.blocks = blocks_for(view.work, now.active, now.active_edges);
        }
        now = now.blocks > 0 ? on_few_blocks(grid, view.work, view.state, now, round) : round(grid, now);
      } else {
        now = round(grid, now);
      }
    }
  }
  if constexpr (!View::Peers::kSingleRank) {
    if (now.has_unreported_rounds()) now = report_rounds(grid, view, now);
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class View>
struct VoteKernels {
  /// Over ranks, all wait for each other in one kernel.
  static constexpr bool kFusable = View::Peers::kSingleRank;
  static constexpr unsigned kPhases = kPushes | kPulls;
  template <unsigned kSelected>
  static auto kernel_for() {
    return vote_rounds_kernel<View, kSelected & ~kSortedLevels>;  // votes have no levels
  }
};

/// Prepares the first round. (Over ranks, initial states are set before.)
template <class View>
__global__ void __launch_bounds__(cuda::kTeamBlock) vote_start_kernel(View view) {
  const cuda::GridTeam grid;
  const RoundBuffers first = view.work.buffers(0);  // the round before the first, whose output that reads
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  for (std::uint64_t w = grid.rank(); w < (view.vertices + 31) / 32; w += grid.size()) view.settled[w] = 0;
  grid.sync();
  Finder finder(view.work, grid.rank(), first);
  over_vertices(grid, view.work, [&](Vertex v, bool valid) {
    bool starts = false, settled = false;
    if (valid) {
      if constexpr (View::Peers::kSingleRank) view.states[v] = view.program.init(v, view.work.degree(v));
      starts = view.program.starts(v);
      settled = view.program.settled(view.states[v]);
      if (starts) finder.mark(v);
    }
    if (settled) set_bit(view.settled, v);
    append(view.work, first, starts, v);
  });
  finder.report();
  grid.sync();
  typename View::Round now;
  if constexpr (View::Peers::kSingleRank) {
    now.active = first.counts->active;
    now.active_edges = first.counts->active_edges;
    now.remaining_edges = view.edges - min(static_cast<unsigned long long>(view.edges), now.active_edges);
    now.pull = view.direction == AccDirection::pull && view.in.offsets != nullptr;
    now.blocks = now.pull ? 0 : blocks_for(view.work, now.active, now.active_edges);
  } else {
    now = begin_rounds(grid, view, first);
  }
  if (grid.rank() != 0) return;
  *view.state = now;
  view.trace.begin();
}

// ---- launcher

/// `Part` is a WholePart or a PeerPart.
template <class Program, class Part = WholePart<typename Program::State>,
          class View = VoteView<Program, typename Part::Peers>>
class CudaVote : public FusedRounds<View, VoteKernels<View>, Part> {
 public:
  /// Keeps references.
  CudaVote(const Device& device, const AccGraph& graph, const Program& program, const AccOptions& options)
      : Rounds(device, graph, program, options, vote_start_kernel<View>,
               options.direction != AccDirection::push),
        fusion_(options.fusion),
        settled_(device, (graph.vertices() + 31) / 32, "settled vertices") {
    view_.settled = settled_.data();
    view_.vertices = graph.vertices(), view_.edges = graph.edges();
  }

  void run(AccStats& stats) {
    using ClusterMemory = SmallFrontierMemory<typename View::Round>;
    constexpr bool kClusters = EarliestVote<Program>;
    if constexpr (kClusters) {
      // If ranks share a GPU, their kernels leave no multiprocessors for a cluster.
      view_.clusters = fusion_ == AccFusion::automatic && this->part_.launch_blocks(2) == 2 &&
                       cluster_fits(small_frontier_kernel<View>, sizeof(ClusterMemory));
    }
    Rounds::run(stats, "rounds of a vote", [&](const auto& now) {
      if constexpr (kClusters) {
        if (now.active > 0 && now.blocks == kOneCluster)
          return launch_cluster(small_frontier_kernel<View>, sizeof(ClusterMemory), this->stream_, view_);
      }
      this->launch(now.pull != 0);
    });
  }

 private:
  using Rounds = FusedRounds<View, VoteKernels<View>, Part>;
  using Rounds::view_;

  AccFusion fusion_;
  Buffer<std::uint32_t> settled_;
};

}  // namespace sluice::acc
