// Aggregations on a GPU, level by level, inside one persistent kernel, or in several as --fusion says. Beyond
// the level at work the next one is found from the states of all vertices, by a ballot.
#pragma once

#include "engine/acc/resident_cuda/rounds.cuh"

namespace sluice::acc {

/// What a round begins with; all threads of the grid hold the same.
struct LevelRound {
  std::uint32_t round = 1;
  std::uint32_t blocks = 0;    ///< that work on it; 0: all
  std::uint32_t refilled = 0;  ///< did the worklists come from the states?
  std::uint32_t done = 0;
  /// Where vertices that were not below the last level are: 0, among all; else list rest_in - 1 of `rest`.
  std::uint32_t rest_in = 0;
  unsigned long long level = 0;
  unsigned long long active = 0;
  unsigned long long rest = 0;  ///< how many that list has
};

template <class Program>
struct LevelsView {
  Program program;
  CsrView out;
  typename Program::State* states = nullptr;
  LevelRound* state = nullptr;
  Vertex* rest[2] = {};  ///< memory for a half of the vertices, and for a quarter
  WorklistView work;
  TraceView trace;
};

// ---- kernels

/// Puts v behind the `*size` entries of a list, where `valid`; every lane of the warp must come.
__device__ __forceinline__ void keep(Vertex* list, unsigned* size, bool valid, Vertex v) {
  const unsigned lanes = __ballot_sync(~0u, valid), lane = threadIdx.x % cuda::kWarp;
  if (lanes == 0) return;
  unsigned at = 0;
  if (lane == 0) at = atomicAdd(size, static_cast<unsigned>(__popc(lanes)));
  at = __shfl_sync(~0u, at, 0);
  if (valid) list[at + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)))] = v;
}

/// Finds the lowest level from `least` on, and makes its vertices the worklists that the round of `place` has
/// made none for. Once half of those it looks through are below, the others are listed for the next time.
template <class Program>
__device__ void refill(const cuda::GridTeam& grid, const LevelsView<Program>& view, const RoundPlace& place,
                       unsigned long long least, LevelRound& next) {
  const Vertex* const rest = next.rest_in == 0 ? nullptr : view.rest[next.rest_in - 1];
  const std::uint64_t count = rest == nullptr ? view.work.vertices : next.rest;
  const auto vertex = [&](std::uint64_t i) { return rest == nullptr ? static_cast<Vertex>(i) : rest[i]; };
  const auto level_of = [&](Vertex v) -> unsigned long long {
    return view.program.level(load(view.states + v));
  };
  unsigned long long lowest = ~0ull, left = 0;
  for (std::uint64_t i = grid.rank(); i < count; i += grid.size()) {
    const unsigned long long level = level_of(vertex(i));
    if (level < least) continue;
    ++left;
    if (level < lowest) lowest = level;
  }
  lowest = cuda::warp_min(lowest), left = cuda::warp_sum(left);
  if (threadIdx.x % cuda::kWarp == 0 && left > 0) {
    atomicMin(&place.found->lowest, lowest);
    atomicAdd(&place.found->left, left);
  }
  grid.sync();
  lowest = load(&place.found->lowest);
  next.done = lowest > last_level(view.program);
  if (next.done) return;
  const bool lists = 2 * load(&place.found->left) <= count;
  const std::uint32_t rest_in = next.rest_in == 1 ? 2 : 1;
  unsigned long long active = 0, edges = 0;
  over_all(grid, count, [&](std::uint64_t i, bool valid) {
    const Vertex v = valid ? vertex(i) : 0;
    const unsigned long long level = valid ? level_of(v) : 0;
    const bool takes = valid && level == lowest;
    active += takes;
    edges += takes ? view.work.degree(v) : 0;
    if (__any_sync(~0u, takes)) append(view.work, place, takes, v);
    if (lists) keep(view.rest[rest_in - 1], &place.found->rest, valid && level > lowest, v);
  });
  active = cuda::warp_sum(active), edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp == 0 && active > 0) {
    atomicAdd(&place.found->refilled, active);
    atomicAdd(&place.found->refilled_edges, edges);
  }
  grid.sync();
  next.level = lowest;
  if (lists) next.rest_in = rest_in, next.rest = load(&place.found->rest);
  next.active = load(&place.found->refilled);
  next.refilled = 1;
  next.blocks = blocks_for(view.work, next.active, load(&place.found->refilled_edges));
  grid.sync();  // the next round clears what was read here
}

template <class Program, class Team>
__device__ LevelRound level_round(const Team& team, const LevelsView<Program>& view, const LevelRound& now) {
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
  next.rest_in = now.rest_in, next.rest = now.rest;
  next.active = found.active;
  next.blocks = blocks_for(view.work, found.active, found.active_edges);
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
__global__ void __launch_bounds__(cuda::kTeamBlock)
    level_rounds_kernel(LevelsView<Program> view, RoundLimit limit) {
  const cuda::GridTeam grid;
  LevelRound now = *view.state;
  grid.sync();
  while (!now.done) {
    if (now.active == 0) {
      refill(grid, view, view.work.place(now.round - 1), now.level + 1, now);
    } else if (now.blocks > 0 && !limit.one) {
      now = on_few_blocks(
          grid, view.work, view.state, now,
          [&](const cuda::FewTeam& team, const LevelRound& round) { return level_round(team, view, round); });
    } else {
      now = level_round(grid, view, now);
    }
    if (limit.one) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class Program>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_start_kernel(LevelsView<Program> view) {
  const cuda::GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  for (std::uint64_t v = grid.rank(); v < view.work.vertices; v += grid.size())
    view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  grid.sync();
  LevelRound now;
  refill(grid, view, view.work.place(0), 0, now);
  if (grid.rank() != 0) return;
  *view.state = now;
  view.trace.begin();
}

// ---- launcher

template <class Program>
class CudaLevels {
 public:
  CudaLevels(const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(graph.device()),
        options_(options),
        start_blocks_(cuda::blocks_at_once(level_start_kernel<Program>, cuda::kTeamBlock, 0)),
        blocks_(cuda::blocks_at_once(level_rounds_kernel<Program>, cuda::kTeamBlock, 0)),
        states_(device_, graph.vertices(), "vertex states"),
        state_(device_, 1, "the round"),
        rest_{{device_, graph.vertices() / 2, "vertices that are left"},
              {device_, graph.vertices() / 4, "vertices that are left"}},
        worklists_(device_, graph.out(), options.filter, std::max(start_blocks_, blocks_), stream_) {
    view_ = {program,
             graph.out(),
             states_.data(),
             state_.data(),
             {rest_[0].data(), rest_[1].data()},
             worklists_.view(),
             worklists_.trace()};
  }

  void run(AccStats& stats) {
    cuda::launch_together(level_start_kernel<Program>, start_blocks_, cuda::kTeamBlock, stream_.get(), view_);
    stats.kernel_launches = 1;
    stats.registers = registers_of(level_rounds_kernel<Program>);
    RoundLimit limit;
    limit.one = options_.fusion == AccFusion::none;
    while (!read_state().done) {
      cuda::launch_together(level_rounds_kernel<Program>, blocks_, cuda::kTeamBlock, stream_.get(), view_,
                            limit);
      ++stats.kernel_launches;
    }
    worklists_.read_trace(device_, stats);
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
  cuda::Stream stream_;
  unsigned start_blocks_, blocks_;
  Buffer<typename Program::State> states_;
  Buffer<LevelRound> state_;
  Buffer<Vertex> rest_[2];
  WorklistMemory worklists_;
  LevelsView<Program> view_;
};

}  // namespace sluice::acc
