// Aggregations on a GPU, level by level, inside one persistent kernel, or several as --fusion says. Once the
// current level is done, a ballot of all states finds the next one. Over ranks, each rank publishes in every
// round which of its vertices send. On a grid of 2^20 vertices sssp takes an H200 36.1 ms in one kernel, and
// 99.4 with a launch a round (docs/papers.md, Table 2).
#pragma once

#include "engine/acc/resident_cuda/level_pull.cuh"
#include "engine/acc/resident_cuda/level_refill.cuh"

namespace sluice::acc {

// ---- kernels

template <unsigned kPhases, class View, class Team>
__device__ typename View::Round level_round(const Team& team, const View& view,
                                            const typename View::Round& now) {
  const RoundBuffers buffers = view.work.buffers(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), buffers);
  if (team.rank() == 0) *buffers.spare_counts = RoundCounts{};
  const bool pulled = pulls<kPhases>(pull_of(now));
  if constexpr ((kPhases & kPulls) != 0) {
    if (pulled) pull_level(team, view, at, buffers, finder);
  }
  if constexpr ((kPhases & kPushes) != 0) {
    if (!pulled) push(team, view, at, buffers, finder);
  }
  finder.report();
  team.sync();
  const RoundCounts found = *buffers.counts;
  auto next = now;
  ++next.round;
  next.refilled = 0;
  PeerWork total{
      .active = now.active, .edges = found.edges, .found = found.active, .found_edges = found.active_edges};
  if constexpr (!View::Peers::kSingleRank) {
    const auto send = [&](bool valid, Vertex v) { view.peers.send(next.swap, valid, v, view.states); };
    const bool ballots = needs_ballot(view.work, buffers);
    ballots ? count_marked(team, view.work, buffers, send) : collect_bins(view.work, buffers, finder, send);
    team.sync();
    if (ballots) scan_marked(team, view.work, buffers);
    total = swap_found(team, view, total, next);
    if (ballots) write_marked(team, view.work, buffers);
    receive_found(team, view, buffers, next);
  }
  next.active = found.active;
  next.all_active = total.found;
  if constexpr (View::kJoins) next.width.count(total.edges);
  if constexpr (View::kMayPull) {
    const auto deducted = !View::Program::kRepeats ? found.active_edges
                          : pulled                 ? now.front_edges
                                                   : found.edges;
    next.remaining_edges -= min(next.remaining_edges, deducted);
    choose_direction(team, view, next, found.active_edges);
  }
  next.blocks = pull_of(next) != 0 ? 0 : blocks_for(view.work, next.all_active, total.found_edges);
  if constexpr (View::Peers::kSingleRank) {
    if (!pulled || pull_of(next) == 0) collect(team, view.work, buffers, finder, pulled);
  }
  pulled ? clear_marks(team, view.work, buffers) : clear_listed(team, view.work, buffers);
  if (team.rank() == 0) {
    const bool refilled = pulled ? pull_of(next) == 0 : needs_ballot(view.work, buffers);
    view.trace.add({.level = now.level,
                    .pull = pulled,
                    .refilled = now.refilled != 0 || refilled,
                    .active = total.active,
                    .edges = total.edges});
    view.trace.totals->levels += now.refilled;
  }
  team.sync();
  return next;
}

template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock, kRoundBlocks) level_rounds_kernel(View view) {
  const cuda::GridTeam grid;
  auto now = *view.state;
  grid.sync();
  const auto round = [&](const auto& team, const typename View::Round& at) {
    return level_round<kPhases>(team, view, at);
  };
  while (!now.done) {
    if (now.all_active == 0) {
      refill<kPhases>(grid, view, view.work.buffers(now.round - 1), now.level + 1, now);
    } else if (!contains<kPhases>(pull_of(now))) {
      break;
    } else if constexpr ((kPhases & (kPushes | kOneRound)) == kPushes) {
      now = now.blocks > 0 ? on_few_blocks(grid, view.work, view.state, now, round) : round(grid, now);
    } else {
      now = round(grid, now);
    }
    if ((kPhases & kOneRound) != 0) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class View>
struct LevelKernels {
  static constexpr bool kFusable = View::Peers::kSingleRank;
  static constexpr unsigned kPhases = View::kMayPull ? kPushes | kPulls : kPushes;
  template <unsigned kSelected>
  static auto kernel_for() {
    return level_rounds_kernel<View, kSelected>;
  }
};

/// Finds the first level. (Over ranks, initial states are set before.)
template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_start_kernel(View view) {
  const cuda::GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  if constexpr (View::Peers::kSingleRank) {
    for (std::uint64_t v = grid.rank(); v < view.work.last; v += grid.size())
      view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  }
  grid.sync();
  typename View::Round now;
  if constexpr (View::kMayPull) now.remaining_edges = view.in.edges;
  refill<kPhases>(grid, view, view.work.buffers(0), 0, now);
  if (grid.rank() != 0) return;
  *view.state = now;
  view.trace.begin();
}

// ---- launcher

/// `Part` is a WholePart or a PeerPart; `pulling`: may rounds pull? Only for a WholePart with in-lists.
template <class Program, class Part = WholePart<typename Program::State>, bool pulling = false,
          class View = LevelsView<Program, typename Part::Peers, pulling>>
class CudaLevels : public FusedRounds<View, LevelKernels<View>, Part> {
 public:
  /// Keeps references.
  CudaLevels(const Device& device, const AccGraph& graph, const Program& program, const AccOptions& options)
      : Rounds(device, graph, program, options, start_kernel(options.filter)),
        remaining_edges_(device, pulling ? 1 : 0, "the round"),
        later_{{device, this->part_.own_vertices() / 2, "remaining vertices"},
               {device, this->part_.own_vertices() / 4, "remaining vertices"}} {
    this->view_.remaining_edges = remaining_edges_.data();
    for (unsigned i = 0; i < 2; ++i) this->view_.later[i] = later_[i].data();
  }

  void run(AccStats& stats) {
    if constexpr (pulling)
      cuda::check(cudaMemsetAsync(remaining_edges_.data(), 0, remaining_edges_.bytes(), this->stream_.get()),
                  "clearing edges");
    Rounds::run(stats, "rounds of an aggregation", [&](const auto& now) { this->launch(pull_of(now) != 0); });
  }

 private:
  using Rounds = FusedRounds<View, LevelKernels<View>, Part>;

  static auto start_kernel(AccFilter filter) {
    constexpr unsigned kSorted = Part::Peers::kSingleRank ? kSortedLevels : 0;
    return filter == AccFilter::ballot ? level_start_kernel<View, kSorted> : level_start_kernel<View, 0>;
  }

  Buffer<unsigned long long> remaining_edges_;
  Buffer<Vertex> later_[2];
};

}  // namespace sluice::acc
