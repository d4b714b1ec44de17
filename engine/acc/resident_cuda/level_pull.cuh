// Rounds of an aggregation that pull, by a grid: vertices whose states may still change look for active ones
// among their in-neighbours. A lane, a warp or a block takes a vertex, by its degree, and combines what it
// finds in registers (pulled_values.hpp).
#pragma once

#include "engine/acc/resident_cuda/worklist.cuh"
#include "engine/acc/rounds/pulled_values.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/exec/grid.cuh"

namespace sluice::acc {

/// What a block shares about vertices with long lists.
template <class State>
struct PulledHubs {
  unsigned count;
  Vertex vertices[cuda::kTeamBlock];
  State parts[cuda::kTeamBlock / cuda::kWarp];
};

/// One round of a thread.
template <class View>
class LevelPull {
 public:
  using Program = typename View::Program;
  using State = typename Program::State;

  __device__ LevelPull(const View& view, const AccRound& at, const RoundPlace& place, Finder& finder)
      : view_(view), at_(at), place_(place), finder_(finder) {}

  /// All threads of the team come.
  template <class Team>
  __device__ void run(const Team& team) {
    __shared__ PulledHubs<State> hubs;
    over_vertices(team, view_.work, [&](Vertex v, bool valid) {
      const State before = valid ? load(view_.states + v) : State{};
      const bool wants = valid && may_change(view_.program, before, at_);
      const EdgeIndex begin = wants ? view_.in.offsets[v] : 0, end = wants ? view_.in.offsets[v + 1ull] : 0;
      const unsigned size = cuda::list_of_degree(end - begin);
      bool active =
          size == 0 && wants && take(v, before, values().collect(v, before, begin, end, finder_.edges));
      for (unsigned left = __ballot_sync(~0u, size == 1); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        const Vertex u = __shfl_sync(~0u, v, owner);
        const State state = __shfl_sync(~0u, before, owner),
                    total = together(u, state, __shfl_sync(~0u, begin, owner), __shfl_sync(~0u, end, owner));
        if (static_cast<int>(lane_) == owner) active = take(v, before, total);
      }
      if (active) finder_.count(v);
      const unsigned marks = __ballot_sync(~0u, active);
      if (marks != 0 && lane_ == 0) view_.work.bits[place_.next][v / 32] = marks;
      by_blocks(hubs, size == 2, v);
    });
  }

 private:
  __device__ PulledValues<Program> values() const {
    return {view_.program, at_, view_.in, view_.states, view_.work.bits[place_.now]};
  }
  __device__ State joined_warp(State value) const {
    for (unsigned step = cuda::kWarp / 2; step > 0; step /= 2)
      value = values().join(value, __shfl_xor_sync(~0u, value, step));
    return value;
  }

  /// By a warp; all of its lanes know the total.
  __device__ State together(Vertex v, State before, EdgeIndex begin, EdgeIndex end) {
    State total = values().none(before);
    for (EdgeIndex base = begin; base < end; base += cuda::kWarp) {
      const bool looks = base + lane_ < end;
      State value = values().none(before);
      const bool found = looks && values().receives(v, base + lane_, value);
      finder_.edges += looks;
      if (!__any_sync(~0u, found)) continue;
      total = values().join(total, joined_warp(value));
      if (values().stops(before, total)) break;
    }
    return total;
  }

  /// The vertices of a block's threads that are hubs, by the block.
  __device__ void by_blocks(PulledHubs<State>& hubs, bool is_hub, Vertex v) {
    if (threadIdx.x == 0) hubs.count = 0;
    if (!__syncthreads_or(is_hub)) return;
    if (is_hub) hubs.vertices[atomicAdd(&hubs.count, 1u)] = v;
    __syncthreads();
    for (unsigned i = 0; i < hubs.count; ++i) hub(hubs, hubs.vertices[i]);
    __syncthreads();
  }

  __device__ void hub(PulledHubs<State>& hubs, Vertex v) {
    const State before = load(view_.states + v);
    State total = values().none(before), value{};
    const EdgeIndex end = view_.in.offsets[v + 1ull];
    for (EdgeIndex e = view_.in.offsets[v] + threadIdx.x; e < end; e += cuda::kTeamBlock) {
      ++finder_.edges;
      if (values().receives(v, e, value)) total = values().join(total, value);
    }
    total = joined_warp(total);
    if (lane_ == 0) hubs.parts[threadIdx.x / cuda::kWarp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned warp = 1; warp < cuda::kTeamBlock / cuda::kWarp; ++warp)
        total = values().join(total, hubs.parts[warp]);
      // The word is the block's own, whose warps have written theirs before.
      if (take(v, before, total)) {
        finder_.count(v);
        view_.work.bits[place_.next][v / 32] |= 1u << (v % 32);
      }
    }
    __syncthreads();
  }

  /// Is v, which has received so much, active in the next round?
  __device__ bool take(Vertex v, State before, State total) const {
    const auto is = values().put(view_.states + v, before, total);
    return is.active && view_.program.level(is.now) == at_.level;
  }

  const View& view_;
  AccRound at_;
  RoundPlace place_;
  Finder& finder_;
  unsigned lane_ = threadIdx.x % cuda::kWarp;
};

}  // namespace sluice::acc
