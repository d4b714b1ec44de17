// Rounds of an aggregation that pull, run by a grid: vertices whose states may still change look for active
// in-neighbours. A lane, a warp or a block takes a vertex, by its degree, and combines values in registers
// (traverse/reduce_rows.cuh).
#pragma once

#include "engine/acc/resident_cuda/worklist.cuh"
#include "engine/acc/rounds/pulled_values.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/traverse/reduce_rows.cuh"

namespace sluice::acc {

/// All threads of the team call it. A word of marks belongs to one warp or block, so writes are not atomic.
template <class View, class Team>
__device__ void pull_level(const Team& team, const View& view, const AccRound& at, const RoundPlace& place,
                           Finder& finder) {
  using State = typename View::State;
  __shared__ cuda::LongRows<State> of_block;
  const PulledValues<typename View::Program> values{
      view.program, at, view.states, view.work.bits[place.now], 0, view.in.targets, view.in.weights};
  const auto take = [&](std::uint64_t v, State before, State total) {
    const auto is = values.put(v, before, total);
    return is.active && view.program.level(is.now) == at.level;
  };
  over_vertices(team, view.work, [&](Vertex v, bool valid) {
    const cuda::RowOfLane own(values, view.in.offsets, v, valid);
    bool active = false;
    own.by_warp(finder.edges, [&](State before, State total) { active = take(v, before, total); });
    if (active) finder.count(v);
    const unsigned marks = __ballot_sync(~0u, active);
    if (marks != 0 && threadIdx.x % cuda::kWarp == 0) view.work.bits[place.next][v / 32] = marks;
    own.by_block(of_block, finder.edges, [&](std::uint64_t u, State before, State total) {
      if (!take(u, before, total)) return;
      finder.count(static_cast<Vertex>(u));
      view.work.bits[place.next][u / 32] |= 1u << (u % 32);
    });
  });
}

}  // namespace sluice::acc
