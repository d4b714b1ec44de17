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
__device__ void pull_level(const Team& team, const View& view, const AccRound& at,
                           const RoundBuffers& buffers, Finder& finder) {
  using State = typename View::State;
  __shared__ cuda::LongRows<State> block_rows;
  const PulledValues<typename View::Program> values{
      view.program, at, view.states, view.work.bits[buffers.now], 0, view.in.targets, view.in.weights};
  const auto apply = [&](std::uint64_t v, State before, State total) {
    const auto result = values.apply(v, before, total);
    return result.active && view.program.level(result.now) == at.level;
  };
  over_vertices(team, view.work, [&](Vertex v, bool valid) {
    const cuda::RowOfLane row(values, view.in.offsets, v, valid);
    bool active = false;
    row.by_warp(finder.edges, [&](State before, State total) { active = apply(v, before, total); });
    if (active) finder.count(v);
    const unsigned marks = __ballot_sync(~0u, active);
    if (marks != 0 && threadIdx.x % cuda::kWarp == 0) view.work.bits[buffers.next][v / 32] = marks;
    row.by_block(block_rows, finder.edges, [&](std::uint64_t u, State before, State total) {
      if (!apply(u, before, total)) return;
      finder.count(static_cast<Vertex>(u));
      view.work.bits[buffers.next][u / 32] |= 1u << (u % 32);
    });
  });
}

}  // namespace sluice::acc
