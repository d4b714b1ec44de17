// Teams of threads that run rounds together. A whole grid synchronizes at a cooperative-groups barrier, so
// all its blocks must be resident. A team of one or a few of its blocks has far cheaper barriers, for rounds
// with little work.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "engine/core/types.hpp"

namespace sluice::cuda {

inline constexpr unsigned kTeamBlock = 512;  ///< four blocks fill an SM, each with enough warps to hide reads
inline constexpr unsigned kWarp = 32;
/// Blocks of a FewTeam, if the grid has that many: as many threads as a small frontier, such as a road
/// graph's, has vertices. A power of two, because arrivals at barriers are counted modulo 2^32.
inline constexpr unsigned kFewBlocks = 16;

struct GridTeam {
  __device__ std::uint64_t rank() const { return std::uint64_t{blockIdx.x} * kTeamBlock + threadIdx.x; }
  __device__ std::uint64_t size() const { return std::uint64_t{gridDim.x} * kTeamBlock; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return gridDim.x; }
  __device__ void sync() const { cooperative_groups::this_grid().sync(); }
};

/// The first `members` blocks of a resident grid. `arrived` must be zero at first. All teams of more than one
/// block on it must have the same number of members.
struct FewTeam {
  unsigned members = 1;
  unsigned* arrived = nullptr;

  __device__ std::uint64_t rank() const { return std::uint64_t{blockIdx.x} * kTeamBlock + threadIdx.x; }
  __device__ std::uint64_t size() const { return std::uint64_t{members} * kTeamBlock; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return members; }
  __device__ void sync() const {
    __threadfence();  // a lane may hold in its cache what another changed atomically
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

/// The sum over a warp, or over each `Lanes` neighbouring lanes of it, in all lanes.
template <unsigned Lanes = kWarp>
__device__ __forceinline__ unsigned long long warp_sum(unsigned long long value) {
  for (unsigned step = Lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step, Lanes);
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
