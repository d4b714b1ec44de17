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
  const RoundPlace place = view.work.place(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  const bool pulled = pulls<kPhases>(pull_of(now));
  if constexpr ((kPhases & kPulls) != 0) {
    if (pulled) pull_level(team, view, at, place, finder);
  }
  if constexpr ((kPhases & kPushes) != 0) {
    if (!pulled) push(team, view, at, place, finder);
  }
  finder.report();
  team.sync();
  const RoundCounts found = *place.found;
  auto next = now;
  ++next.round;
  next.refilled = 0;
  PeerWork all{
      .active = now.active, .edges = found.edges, .found = found.active, .found_edges = found.active_edges};
  if constexpr (!View::Peers::kAlone) {
    const auto send = [&](bool valid, Vertex v) { view.peers.send(next.swap, valid, v, view.states); };
    const bool ballots = needs_ballot(view.work, place);
    ballots ? count_marked(team, view.work, place, send) : collect_bins(view.work, place, finder, send);
    team.sync();
    if (ballots) place_marked(team, view.work, place);
    all = swap_found(team, view, all, next);
    if (ballots) write_marked(team, view.work, place);
    receive_found(team, view, place, next);
  }
  next.active = found.active;
  next.all_active = all.found;
  if constexpr (View::kJoins) next.width.count(all.edges);
  if constexpr (View::kMayPull) {
    const auto gone = !View::Program::kRepeats ? found.active_edges : pulled ? now.front_edges : found.edges;
    next.left_edges -= min(next.left_edges, gone);
    choose(team, view, next, found.active_edges);
  }
  next.blocks = pull_of(next) != 0 ? 0 : blocks_for(view.work, next.all_active, all.found_edges);
  if constexpr (View::Peers::kAlone) {
    if (!pulled || pull_of(next) == 0) collect(team, view.work, place, finder, pulled);
  }
  pulled ? clear_marks(team, view.work, place) : clear_listed(team, view.work, place);
  if (team.rank() == 0) {
    const bool refilled = pulled ? pull_of(next) == 0 : needs_ballot(view.work, place);
    view.trace.add({.level = now.level,
                    .pull = pulled,
                    .refilled = now.refilled != 0 || refilled,
                    .active = all.active,
                    .edges = all.edges});
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
      refill<kPhases>(grid, view, view.work.place(now.round - 1), now.level + 1, now);
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
  static constexpr bool kFuses = View::Peers::kAlone;
  static constexpr unsigned kPhases = View::kMayPull ? kPushes | kPulls : kPushes;
  template <unsigned kOf>
  static auto of() {
    return level_rounds_kernel<View, kOf>;
  }
};

/// Finds the first level. (Over ranks, initial states are set before.)
template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_start_kernel(View view) {
  const cuda::GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  if constexpr (View::Peers::kAlone) {
    for (std::uint64_t v = grid.rank(); v < view.work.last; v += grid.size())
      view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  }
  grid.sync();
  typename View::Round now;
  if constexpr (View::kMayPull) now.left_edges = view.in.edges;
  refill<kPhases>(grid, view, view.work.place(0), 0, now);
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
        left_edges_(device, pulling ? 1 : 0, "the round"),
        rest_{{device, this->part_.own_vertices() / 2, "remaining vertices"},
              {device, this->part_.own_vertices() / 4, "remaining vertices"}} {
    this->view_.left_edges = left_edges_.data();
    for (unsigned i = 0; i < 2; ++i) this->view_.rest[i] = rest_[i].data();
  }

  void run(AccStats& stats) {
    if constexpr (pulling)
      cuda::check(cudaMemsetAsync(left_edges_.data(), 0, left_edges_.bytes(), this->stream_.get()),
                  "clearing edges");
    Rounds::run(stats, "rounds of an aggregation", [&](const auto& now) { this->launch(pull_of(now) != 0); });
  }

 private:
  using Rounds = FusedRounds<View, LevelKernels<View>, Part>;

  static auto start_kernel(AccFilter filter) {
    constexpr unsigned kSorted = Part::Peers::kAlone ? kSortedLevels : 0;
    return filter == AccFilter::ballot ? level_start_kernel<View, kSorted> : level_start_kernel<View, 0>;
  }

  Buffer<unsigned long long> left_edges_;
  Buffer<Vertex> rest_[2];
};

}  // namespace sluice::acc
