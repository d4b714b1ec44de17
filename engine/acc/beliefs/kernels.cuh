// Belief propagation on a GPU: what vertices make of messages, by a lane, a warp or a block, by the length of
// their lists; of a whole graph, or of a part of it.
#pragma once

#include <algorithm>

#include "engine/acc/beliefs/part.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/group.hpp"

namespace sluice::acc {

/// A message keeps dozens of doubles in registers.
inline constexpr unsigned kBeliefBlock = 256;
/// From so many edges on a warp would be the last that a round waits for.
inline constexpr std::uint64_t kHubDegree = 2048;

using HubGroup = BlockGroup<kBeliefBlock>;

/// What a round comes to.
struct BeliefTotals {
  unsigned long long change = 0;  ///< the largest of a belief: bits of a positive double, ordered as it is
  unsigned impossible = 0;        ///< not 0: a vertex has no state left

  __device__ void take(double by) {
    if (by < 0) {
      atomicOr(&impossible, 1u);
    } else if (by > 0) {
      atomicMax(&change, static_cast<unsigned long long>(exact::bits_of(by)));
    }
  }
};

inline constexpr unsigned kMostBeliefBlocks = 1u << 16;  ///< beyond them blocks take further edges

inline unsigned belief_blocks(std::uint64_t count) {
  return std::min(cuda::grid_for(count, kBeliefBlock), kMostBeliefBlocks);
}

__device__ __forceinline__ std::uint64_t lane_of_grid() {
  return std::uint64_t{blockIdx.x} * kBeliefBlock + threadIdx.x;
}
__device__ __forceinline__ std::uint64_t lanes_of_grid() {
  return std::uint64_t{gridDim.x} * kBeliefBlock;
}

// ---- kernels

/// All but hubs. The lanes of a warp take a vertex each, and those with longer lists together. `Program` is a
/// BeliefPropagation of all vertices, or a BeliefPart.
template <class Program>
__global__ void __launch_bounds__(kBeliefBlock)
    beliefs_kernel(Program program, const EdgeIndex* offsets, std::uint64_t vertices, BeliefTotals* totals) {
  const unsigned lane = threadIdx.x % cuda::kWarp;
  double change = 0;
  bool impossible = false;
  const auto note = [&](double by) {
    impossible |= by < 0;
    change = by > change ? by : change;
  };
  for (std::uint64_t base = lane_of_grid() - lane; base < vertices; base += lanes_of_grid()) {
    const std::uint64_t v = base + lane;
    const EdgeIndex begin = v < vertices ? offsets[v] : 0, end = v < vertices ? offsets[v + 1] : 0;
    if (v < vertices && end - begin < cuda::kWarpDegree)
      note(program.combine(SingleLane{}, static_cast<Vertex>(v), begin, end));
    const bool together = end - begin >= cuda::kWarpDegree && end - begin < kHubDegree;
    for (unsigned left = __ballot_sync(~0u, together); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const EdgeIndex first = __shfl_sync(~0u, begin, owner), last = __shfl_sync(~0u, end, owner);
      note(program.combine(Tile<cuda::kWarp>{}, static_cast<Vertex>(base + static_cast<unsigned>(owner)),
                           first, last));
    }
  }
  const unsigned long long most = Tile<cuda::kWarp>{}.maximum<unsigned long long>(exact::bits_of(change));
  if (lane == 0) totals->take(exact::of_bits(most));
  if (impossible) totals->take(-1);
}

/// A block a hub.
template <class Program>
__global__ void __launch_bounds__(kBeliefBlock)
    hubs_kernel(Program program, const EdgeIndex* offsets, const Vertex* hubs, BeliefTotals* totals) {
  __shared__ HubGroup::Workspace meeting;
  const Vertex v = hubs[blockIdx.x];
  const double change = program.combine(HubGroup(meeting), v, offsets[v], offsets[v + 1ull]);
  if (threadIdx.x == 0) totals->take(change);
}

}  // namespace sluice::acc
