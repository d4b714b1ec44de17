// The loop of a walk on a GPU: advance.hpp for one lane. In two cases a kernel of its own was measured to be
// faster: programs that never scan, on a whole graph (walk_cuda.cuh), and walks that make one step a round
// between GPUs (queue/steps_cuda.cuh).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/exec/group.cuh"
#include "engine/walks/step.hpp"

namespace sluice::walks::cuda {

using namespace sluice::cuda;  // streams, groups and checks of a GPU

template <class T>
__device__ __forceinline__ T broadcast_struct(T value, unsigned source_lane) {
  if constexpr (!std::is_empty_v<T>) {
    static_assert(sizeof(T) % 4 == 0);
    std::uint32_t words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (std::uint32_t& word : words) word = __shfl_sync(~0u, word, source_lane);
    memcpy(&value, words, sizeof(T));
  }
  return value;
}

/// Advances a lane's walk, if `active`, until it ends, completes its leg, or needs a list that is not
/// present; `state` then says what it waits for. Calls store(step, vertex) after every step, and adds to
/// `rounds`. If the program scans, whole warps must call this: all lanes scan together, for one lane's walk
/// after another.
template <class Walks, class Store>
__device__ __forceinline__ void advance(const Walks& walks, typename Walks::Walker& walker,
                                        typename Walks::StepState& state, bool active, const Store& store,
                                        std::uint32_t& rounds) {
  constexpr bool kScans = Walks::WalkProgram::kScans;
  walks.end(state);
  while (kScans ? __any_sync(~0u, active) : active) {
    Round round = Round::absent;
    if (active) {
      Proposal proposal;
      if (walks.propose(walker, state, proposal, round)) round = walks.settle(walker, state, proposal);
    }
    if constexpr (kScans) {
      if (active && round == Round::scan) walks.count_scan(walker, state);
      for (unsigned waiting = __ballot_sync(~0u, active && round == Round::scan); waiting != 0;
           waiting &= waiting - 1) {
        const unsigned lane = __ffs(static_cast<int>(waiting)) - 1;
        auto shared = broadcast_struct(walker, lane);
        const Round result =
            walks.scan(Tile<32>{}, shared, broadcast_struct(walks.scan_context(state), lane));
        if (Tile<32>::warp_lane() == lane) walker = shared, round = result;
      }
    }
    if (!active) continue;
    if (!Walks::kComplete && round == Round::absent) {
      active = false;
      continue;
    }
    ++rounds;
    if (round == Round::moved) store(walker.step, walker.current);
    active = round != Round::ended && walker.step < walks.leg_end;
    if (!active) walks.end(state);
  }
}

}  // namespace sluice::walks::cuda
