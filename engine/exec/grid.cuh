// Threads that go through rounds together: a grid, which waits for itself at a barrier of cooperative groups
// and so must be resident as a whole, or one or a few blocks of it, whose barriers cost far less, for rounds
// with little to do.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "engine/core/types.hpp"

namespace sluice::cuda {

inline constexpr unsigned kTeamBlock = 512;  ///< four blocks fill an SM, each with enough warps to hide reads
inline constexpr unsigned kWarp = 32;
/// Of a team of a few blocks, where the grid has as many: as many threads as a small frontier has vertices,
/// such as a road graph's. A power of two, for barriers are counted modulo 2^32.
inline constexpr unsigned kFewBlocks = 16;

struct GridTeam {
  __device__ std::uint64_t rank() const { return std::uint64_t{blockIdx.x} * kTeamBlock + threadIdx.x; }
  __device__ std::uint64_t size() const { return std::uint64_t{gridDim.x} * kTeamBlock; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return gridDim.x; }
  __device__ void sync() const { cooperative_groups::this_grid().sync(); }
};

/// The first blocks of a resident grid. `arrived` was zero at first; of several members there are always as
/// many.
struct FewTeam {
  unsigned members = 1;
  unsigned* arrived = nullptr;

  __device__ std::uint64_t rank() const { return std::uint64_t{blockIdx.x} * kTeamBlock + threadIdx.x; }
  __device__ std::uint64_t size() const { return std::uint64_t{members} * kTeamBlock; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return members; }
  __device__ void sync() const {
    __threadfence();  // what one lane writes through an atomic another may hold in its cache
    __syncthreads();
    if (members == 1) return;
    if (threadIdx.x == 0) {
      const unsigned before = atomicAdd(arrived, 1u), goal = before - before % members + members;
      while (static_cast<int>(*const_cast<const volatile unsigned*>(arrived) - goal) < 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
};

/// The sum over a warp, in all lanes.
__device__ __forceinline__ unsigned long long warp_sum(unsigned long long value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ __forceinline__ unsigned long long warp_min(unsigned long long value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0u, value, step);
    value = other < value ? other : value;
  }
  return value;
}

}  // namespace sluice::cuda
