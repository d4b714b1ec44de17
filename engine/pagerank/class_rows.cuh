// Rows by class of length on a GPU (degree_class.hpp): a row is worked on by a thread, a tile of a warp, a
// warp or a block, or it is cut among blocks. Sweeps of static PageRank and iterations of dynamic PageRank
// alike add up what the lanes of a row find, and what the threads of a block did.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/group.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/traverse/degree_class.hpp"

namespace sluice::pagerank {

inline constexpr unsigned kTileLanes = 8, kWarpLanes = 32;
inline constexpr unsigned kRowBlock = 256;  ///< eight warps: enough to hide gathers, few registers each

/// Threads that work together, `Block` of them: a block, or one of the several teams of a larger block, whose
/// threads then meet at a barrier of their own.
template <unsigned Block = kRowBlock, unsigned kTeams = 1>
struct Teams {
  static constexpr unsigned kInBlock = kTeams, kWarps = Block / kWarpLanes;

  __device__ static unsigned in_block() { return kTeams == 1 ? 0 : threadIdx.x / Block; }
  __device__ static unsigned thread() { return kTeams == 1 ? threadIdx.x : threadIdx.x % Block; }
  __device__ static unsigned rank() { return blockIdx.x * kTeams + in_block(); }
  __device__ static unsigned size() { return gridDim.x * kTeams; }
  __device__ static void meet() {
    if constexpr (kTeams == 1) {
      __syncthreads();
    } else {  // barrier 0 is __syncthreads()'s
      asm volatile("bar.sync %0, %1;" ::"r"(in_block() + 1), "n"(Block) : "memory");
    }
  }
};

// ---- totals

/// Joins the totals of a warp's lanes, then of a team's warps; its thread 0 has them.
template <class Team = Teams<>, class Totals>
__device__ void join_totals(Totals& totals, RankNorm norm) {
  struct Words {
    std::uint32_t word[sizeof(Totals) / 4];
  };
  for (unsigned stride = kWarpLanes / 2; stride > 0; stride /= 2) {
    auto words = __builtin_bit_cast(Words, totals);
    for (std::uint32_t& word : words.word) word = __shfl_xor_sync(~0u, word, stride);
    totals.join(__builtin_bit_cast(Totals, words), norm);
  }
  // Raw bytes: shared memory takes no constructors.
  __shared__ alignas(Totals) unsigned char workspace[Team::kInBlock * Team::kWarps * sizeof(Totals)];
  auto* const by_warp = reinterpret_cast<Totals*>(workspace) + Team::in_block() * Team::kWarps;
  const unsigned thread = Team::thread();
  if (thread % kWarpLanes == 0) by_warp[thread / kWarpLanes] = totals;
  Team::meet();
  if (thread == 0) {
    for (unsigned warp = 1; warp < Team::kWarps; ++warp) totals.join(by_warp[warp], norm);
  }
}

/// The totals of `count` parts, by one block of kRowBlock threads; thread 0 has them.
template <class Totals>
__device__ Totals fold_parts(const Totals* partial, unsigned count, RankNorm norm) {
  Totals sum;
  for (unsigned i = threadIdx.x; i < count; i += kRowBlock) sum.join(partial[i], norm);
  join_totals(sum, norm);
  return sum;
}

/// One block adds `count` parts to `totals`, or makes them the totals.
template <class Totals>
__global__ void __launch_bounds__(kRowBlock)
    fold_totals_kernel(const Totals* partial, unsigned count, RankNorm norm, bool adds, Totals* totals) {
  Totals sum = fold_parts(partial, count, norm);
  if (threadIdx.x != 0) return;
  if (adds) sum.join(*totals, norm);
  *totals = sum;
}

// ---- rows

/// The sum over as many lanes of a warp, in all of them.
template <unsigned Lanes>
__device__ std::uint64_t sum_lanes(std::uint64_t value) {
  for (unsigned stride = Lanes / 2; stride > 0; stride /= 2) {
    value += __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), static_cast<int>(stride), Lanes);
  }
  return value;
}

/// The sum over a team, in its thread 0; all of it come, and meet before they return.
template <class Team>
__device__ std::uint64_t sum_team(std::uint64_t value) {
  __shared__ std::uint64_t workspace[Team::kInBlock * Team::kWarps];
  auto* const by_warp = workspace + Team::in_block() * Team::kWarps;
  value = sum_lanes<kWarpLanes>(value);
  if (Team::thread() % kWarpLanes == 0) by_warp[Team::thread() / kWarpLanes] = value;
  Team::meet();
  if (Team::thread() == 0) {
    for (unsigned warp = 1; warp < Team::kWarps; ++warp) value += by_warp[warp];
  }
  Team::meet();
  return value;
}

/// Calls visit(i, lanes) for every i below `count`, by `Lanes` lanes each and all blocks. All lanes of a warp
/// go round equally often, for they may add up together: some with an i that is not below `count`.
template <unsigned Lanes, class Visit>
__device__ void over_rows(std::uint64_t count, const Visit& visit) {
  using Group = std::conditional_t<Lanes == 1, SingleLane, Tile<std::max(Lanes, 2u)>>;
  constexpr unsigned kRows = kRowBlock / Lanes;  // a block's
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kRows; base < count;
       base += std::uint64_t{gridDim.x} * kRows)
    visit(base + threadIdx.x / Lanes, Group{});
}

// ---- launcher

template <class Totals>
void fold_totals(const Totals* partial, unsigned count, RankNorm norm, bool adds, Totals* totals,
                 cudaStream_t stream) {
  fold_totals_kernel<<<1, kRowBlock, 0, stream>>>(partial, count, norm, adds, totals);
  cuda::check_launch("fold_totals_kernel");
}

}  // namespace sluice::pagerank
