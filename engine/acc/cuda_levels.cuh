// Aggregations on a GPU, level by level, inside one persistent kernel, or in several as --fusion says. Beyond
// the level at work the next one is found from the states of all vertices, by a ballot.
#pragma once

#include "engine/acc/cuda_rounds.cuh"

namespace sluice::cuda {

/// What a round begins with; all threads of the grid hold the same.
struct LevelRound {
  std::uint32_t round = 1;
  std::uint32_t small = 0;     ///< is it one block's?
  std::uint32_t refilled = 0;  ///< did the worklists come from the states?
  std::uint32_t done = 0;
  unsigned long long level = 0;
  unsigned long long active = 0;
};

template <class Program>
struct LevelView {
  Program program;
  CsrView out;
  typename Program::State* states = nullptr;
  LevelRound* state = nullptr;
  WorklistView work;
  TraceView trace;
};

// ---- kernels
// -------------------------------------------------------------------------------------------------

/// Finds the lowest level from `least` on, and makes its vertices the worklists that the round of `place` has
/// made none for.
template <class Program>
__device__ void refill(const GridTeam& grid, const LevelView<Program>& view, const RoundPlace& place,
                       unsigned long long least, LevelRound& next) {
  unsigned long long lowest = ~0ull;
  for (std::uint64_t v = grid.rank(); v < view.work.vertices; v += grid.size()) {
    const unsigned long long level = view.program.level(acc::load(view.states + v));
    if (level >= least && level < lowest) lowest = level;
  }
  lowest = warp_min(lowest);
  if (threadIdx.x % kWarp == 0 && lowest != ~0ull) atomicMin(&place.found->lowest, lowest);
  grid.sync();
  lowest = acc::load(&place.found->lowest);
  next.done = lowest > last_level(view.program);
  if (next.done) return;
  unsigned long long active = 0, edges = 0;
  over_all(grid, view.work.vertices, [&](std::uint64_t v, bool mine) {
    const bool takes = mine && view.program.level(acc::load(view.states + v)) == lowest;
    active += takes;
    edges += takes ? view.work.degree(static_cast<Vertex>(v)) : 0;
    if (__any_sync(~0u, takes)) append(view.work, place, takes, static_cast<Vertex>(v));
  });
  active = warp_sum(active), edges = warp_sum(edges);
  if (threadIdx.x % kWarp == 0 && active > 0) {
    atomicAdd(&place.found->refilled, active);
    atomicAdd(&place.found->refilled_edges, edges);
  }
  grid.sync();
  next.level = lowest;
  next.active = acc::load(&place.found->refilled);
  next.refilled = 1;
  next.small = is_small(view.work, next.active, acc::load(&place.found->refilled_edges));
  grid.sync();  // the next round clears what was read here
}

template <class Program, class Team>
__device__ LevelRound level_round(const Team& team, const LevelView<Program>& view, const LevelRound& now) {
  const RoundPlace place = view.work.place(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  over_edges(team, view.work, place, [&](Vertex u, EdgeIndex e) {
    const Vertex v = view.out.targets[e];
    ++finder.edges;
    const auto value = view.program.compute({u, v, e, at, view.states, view.out.weights});
    const auto is = combine_into(view.program, view.states + v, value, at);
    const bool active = is.active && view.program.level(is.now) == now.level && finder.mark(v);
    if (active) finder.note(v);
    if (view.work.filter == AccFilter::batch)
      view.work.batch[atomicAdd(&place.found->batched, 1ull)] = active ? v : kNoVertex;
  });
  finder.report();
  team.sync();
  const RoundCounts found = *place.found;
  LevelRound next;
  next.round = now.round + 1;
  next.level = now.level;
  next.active = found.active;
  next.small = is_small(view.work, found.active, found.active_edges);
  collect(team, view.work, place, finder);
  clear_listed(team, view.work, place);
  if (team.rank() == 0) {
    AccRoundTrace trace;
    trace.level = now.level;
    trace.refilled = now.refilled != 0 || needs_ballot(view.work, place);
    trace.active = now.active;
    trace.edges = found.edges;
    view.trace.add(trace);
    view.trace.totals->levels += now.refilled;
  }
  team.sync();
  return next;
}

template <class Program>
__global__ void __launch_bounds__(kTeamBlock) level_rounds_kernel(LevelView<Program> view, RoundLimit limit) {
  const GridTeam grid;
  LevelRound now = *view.state;
  grid.sync();
  while (!now.done) {
    if (now.active == 0) {
      refill(grid, view, view.work.place(now.round - 1), now.level + 1, now);
    } else if (now.small && !limit.one) {
      if (blockIdx.x == 0) {
        const BlockTeam block;
        while (now.active > 0 && now.small) now = level_round(block, view, now);
        if (threadIdx.x == 0) *view.state = now;
      }
      grid.sync();
      now = *view.state;
      grid.sync();
    } else {
      now = level_round(grid, view, now);
    }
    if (limit.one) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class Program>
__global__ void __launch_bounds__(kTeamBlock) level_start_kernel(LevelView<Program> view) {
  const GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  for (std::uint64_t v = grid.rank(); v < view.work.vertices; v += grid.size())
    view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  grid.sync();
  LevelRound now;
  refill(grid, view, view.work.place(0), 0, now);
  if (grid.rank() == 0) *view.state = now;
}

// ---- driver
// --------------------------------------------------------------------------------------------------

template <class Program>
class CudaLevels {
 public:
  CudaLevels(const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(graph.device()),
        options_(options),
        start_blocks_(resident_blocks(level_start_kernel<Program>)),
        blocks_(resident_blocks(level_rounds_kernel<Program>)),
        states_(device_, graph.vertices(), "vertex states"),
        state_(device_, 1, "the round"),
        room_(device_, graph.out(), options.filter, std::max(start_blocks_, blocks_), stream_) {
    view_ = {program, graph.out(), states_.data(), state_.data(), room_.view(), room_.trace()};
  }

  void run(AccStats& stats) {
    launch_together(level_start_kernel<Program>, start_blocks_, stream_, view_);
    stats.kernel_launches = 1;
    stats.registers = registers_of(level_rounds_kernel<Program>);
    RoundLimit limit;
    limit.one = options_.fusion == AccFusion::none;
    while (!read_state().done) {
      launch_together(level_rounds_kernel<Program>, blocks_, stream_, view_, limit);
      ++stats.kernel_launches;
    }
    room_.read_trace(device_, stats);
  }

  const typename Program::State* states() const { return states_.data(); }

 private:
  LevelRound read_state() {
    stream_.wait("rounds of an aggregation");
    LevelRound state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    return state;
  }

  const Device& device_;
  AccOptions options_;
  Stream stream_;
  unsigned start_blocks_, blocks_;
  Buffer<typename Program::State> states_;
  Buffer<LevelRound> state_;
  WorklistRoom room_;
  LevelView<Program> view_;
};

}  // namespace sluice::cuda
