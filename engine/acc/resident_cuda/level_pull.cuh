// Rounds of an aggregation that pull, by a grid: vertices whose states may still change look for active ones
// among their in-neighbours. A lane, a warp or a block takes a vertex, by its degree, and combines what it
// finds in registers: no other touches the state, so that combining takes no atomics (SIMD-X, section 3).
#pragma once

#include "engine/acc/resident_cuda/worklist.cuh"
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
      bool active = size == 0 && wants && take(v, before, alone(v, before, begin, end));
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
  /// Joined with a value it leaves that: of bounds the state itself, of sums nothing.
  __device__ static State none(State before) {
    if constexpr (SumProgram<Program>) return State{};
    return before;
  }
  __device__ State join(State a, State b) const {
    if constexpr (SumProgram<Program>) {
      return view_.program.add(a, b);
    } else {
      return view_.program.combine(a, b, at_);
    }
  }
  __device__ State result(State before, State total) const {
    return total == none(before) ? before : view_.program.combine(before, total, at_);
  }
  /// Is the rest of the list of no use? (SIMD-X's early stop; of bounds any may be lower.)
  __device__ bool stops(State before, State total) const {
    if constexpr (SumProgram<Program>) return !may_change(view_.program, result(before, total), at_);
    return false;
  }
  __device__ State joined_warp(State value) const {
    for (unsigned step = cuda::kWarp / 2; step > 0; step /= 2)
      value = join(value, __shfl_xor_sync(~0u, value, step));
    return value;
  }

  /// What v is sent along e.
  __device__ bool receives(Vertex v, EdgeIndex e, State& value) const {
    const Vertex u = view_.in.targets[e];
    if ((view_.work.bits[place_.now][u / 32] >> (u % 32) & 1) == 0) return false;
    value = view_.program.compute({u, v, e, at_, view_.states, view_.in.weights});
    return true;
  }

  __device__ State alone(Vertex v, State before, EdgeIndex e, EdgeIndex end) {
    State total = none(before), value{};
    for (; e < end; ++e) {
      ++finder_.edges;
      if (!receives(v, e, value)) continue;
      total = join(total, value);
      if (stops(before, total)) break;
    }
    return total;
  }

  /// By a warp; all of its lanes know the total.
  __device__ State together(Vertex v, State before, EdgeIndex begin, EdgeIndex end) {
    State total = none(before);
    for (EdgeIndex base = begin; base < end; base += cuda::kWarp) {
      const bool looks = base + lane_ < end;
      State value = none(before);
      const bool found = looks && receives(v, base + lane_, value);
      finder_.edges += looks;
      if (!__any_sync(~0u, found)) continue;
      total = join(total, joined_warp(value));
      if (stops(before, total)) break;
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
    State total = none(before), value{};
    const EdgeIndex end = view_.in.offsets[v + 1ull];
    for (EdgeIndex e = view_.in.offsets[v] + threadIdx.x; e < end; e += cuda::kTeamBlock) {
      ++finder_.edges;
      if (receives(v, e, value)) total = join(total, value);
    }
    total = joined_warp(total);
    if (lane_ == 0) hubs.parts[threadIdx.x / cuda::kWarp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned warp = 1; warp < cuda::kTeamBlock / cuda::kWarp; ++warp)
        total = join(total, hubs.parts[warp]);
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
    const State now = result(before, total);
    if (now == before) return false;
    store(view_.states + v, now);
    return view_.program.active(now, before, at_) && view_.program.level(now) == at_.level;
  }

  const View& view_;
  AccRound at_;
  RoundPlace place_;
  Finder& finder_;
  unsigned lane_ = threadIdx.x % cuda::kWarp;
};

}  // namespace sluice::acc
