// Belief propagation on a GPU: combining the messages of vertices, of a whole graph or a part. A lane, a warp
// or a block takes a vertex, by the length of its list.
#pragma once

#include <algorithm>
#include <span>

#include "engine/acc/beliefs/part.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/group.hpp"
#include "engine/exec/stream.cuh"
#include "engine/traverse/degree_class.hpp"

namespace sluice::acc {

/// Threads of a block; computing a message keeps dozens of doubles in registers.
inline constexpr unsigned kBeliefBlock = 256;

using HubGroup = BlockGroup<kBeliefBlock>;

/// The result of a round.
struct BeliefTotals {
  unsigned long long change = 0;  ///< largest change of a belief: bits of a double >= 0
  unsigned impossible = 0;        ///< not 0: a vertex has no state left

  __device__ void add_change(double difference) {
    if (difference < 0) {
      atomicOr(&impossible, 1u);
    } else if (difference > 0) {
      atomicMax(&change, static_cast<unsigned long long>(exact::bits_of(difference)));
    }
  }
};

inline constexpr unsigned kMaxBeliefBlocks = 1u << 16;  ///< with more edges, blocks loop

inline unsigned belief_blocks(std::uint64_t count) {
  return std::min(cuda::grid_for(count, kBeliefBlock), kMaxBeliefBlocks);
}

/// Blocks for vertices: for few vertices, so many that a warp has one or a few.
inline unsigned vertex_blocks(std::uint64_t vertices) {
  constexpr unsigned kFew = 512;
  return std::max(belief_blocks(vertices), std::min(belief_blocks(vertices * cuda::kWarp), kFew));
}

__device__ __forceinline__ std::uint64_t grid_thread() {
  return std::uint64_t{blockIdx.x} * kBeliefBlock + threadIdx.x;
}
__device__ __forceinline__ std::uint64_t grid_threads() {
  return std::uint64_t{gridDim.x} * kBeliefBlock;
}

/// Combines messages of all vertices but hubs. The lanes of a warp take a vertex each, and share those with
/// longer lists; if vertices are few, a warp takes fewer. `Program` is a BeliefPropagation or BeliefPart.
template <class Program>
__device__ void combine_all(const Program& program, const EdgeIndex* offsets, std::uint64_t vertices,
                            BeliefTotals* totals) {
  const unsigned lane = threadIdx.x % cuda::kWarp;
  double change = 0;
  bool impossible = false;
  const auto record = [&](double difference) {
    impossible |= difference < 0;
    change = difference > change ? difference : change;
  };
  const std::uint64_t warps = grid_threads() / cuda::kWarp, rounded_up = (vertices + warps - 1) / warps,
                      per_warp = rounded_up < cuda::kWarp ? rounded_up : cuda::kWarp;
  for (std::uint64_t first = grid_thread() / cuda::kWarp * per_warp; first < vertices;
       first += warps * per_warp) {
    const std::uint64_t v = first + lane;
    const bool valid = lane < per_warp && v < vertices;
    const EdgeIndex begin = valid ? offsets[v] : 0, end = valid ? offsets[v + 1] : 0;
    if (valid && end - begin < kWarpDegree)
      record(program.combine(SingleLane{}, static_cast<Vertex>(v), begin, end));
    const bool by_warp = end - begin >= kWarpDegree && end - begin < kLongDegree;
    for (unsigned pending = __ballot_sync(~0u, by_warp); pending != 0; pending &= pending - 1) {
      const auto owner = static_cast<unsigned>(__ffs(static_cast<int>(pending)) - 1);
      const EdgeIndex begins = __shfl_sync(~0u, begin, owner), ends = __shfl_sync(~0u, end, owner);
      record(program.combine(Tile<cuda::kWarp>{}, static_cast<Vertex>(first + owner), begins, ends));
    }
  }
  const unsigned long long max_change =
      Tile<cuda::kWarp>{}.maximum<unsigned long long>(exact::bits_of(change));
  if (lane == 0) totals->add_change(exact::from_bits(max_change));
  if (impossible) totals->add_change(-1);
}

/// Combines messages of hubs, one block for each. Hubs are row numbers; vertex 0 of `program` is row `first`.
template <class Program>
__device__ void combine_hubs(const Program& program, const EdgeIndex* offsets, const Vertex* hubs,
                             unsigned count, Vertex first, BeliefTotals* totals) {
  __shared__ HubGroup::Workspace workspace;
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x) {
    const Vertex v = hubs[i] - first;
    const double change = program.combine(HubGroup(workspace), v, offsets[v], offsets[v + 1ull]);
    if (threadIdx.x == 0) totals->add_change(change);
  }
}

// ---- kernels

template <class Program>
__global__ void __launch_bounds__(kBeliefBlock)
    beliefs_kernel(Program program, const EdgeIndex* offsets, std::uint64_t vertices, BeliefTotals* totals) {
  combine_all(program, offsets, vertices, totals);
}

template <class Program>
__global__ void __launch_bounds__(kBeliefBlock)
    hubs_kernel(Program program, const EdgeIndex* offsets, const Vertex* hubs, unsigned count, Vertex first,
                BeliefTotals* totals) {
  combine_hubs(program, offsets, hubs, count, first, totals);
}

// ---- kernel launchers

/// Combines messages of all vertices, including `hubs`; returns the number of launches.
template <class Program>
unsigned launch_combine(const cuda::Stream& stream, const Program& program, const EdgeIndex* offsets,
                        std::uint64_t vertices, std::span<const Vertex> hubs, Vertex first,
                        BeliefTotals* totals) {
  beliefs_kernel<<<vertex_blocks(vertices), kBeliefBlock, 0, stream.get()>>>(program, offsets, vertices,
                                                                             totals);
  cuda::check_launch("beliefs_kernel");
  if (hubs.empty()) return 1;
  const auto count = static_cast<unsigned>(hubs.size());
  hubs_kernel<<<count, kBeliefBlock, 0, stream.get()>>>(program, offsets, hubs.data(), count, first, totals);
  cuda::check_launch("hubs_kernel");
  return 2;
}

}  // namespace sluice::acc
