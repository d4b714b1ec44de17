// Rows by length class on a GPU (degree_class.hpp). A thread, a tile of a warp, a warp or a block handles a
// row, or several blocks share it. Static sweeps and dynamic iterations both use the sums here: over the
// lanes of a row, and over the threads of a block.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/group.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/traverse/degree_class.hpp"

namespace sluice::pagerank {

inline constexpr unsigned kTileLanes = 8, kWarpLanes = 32;
inline constexpr unsigned kRowBlock = 256;  ///< eight warps hide the latency of gathers; few registers each

/// A team of `Block` threads that work together: a whole block, or one of `kTeams` teams in a larger block.
/// Teams of a larger block synchronise at named barriers, one a team.
template <unsigned Block = kRowBlock, unsigned kTeams = 1>
struct ThreadTeam {
  static constexpr unsigned kPerBlock = kTeams, kWarps = Block / kWarpLanes;

  __device__ static unsigned index_in_block() { return kTeams == 1 ? 0 : threadIdx.x / Block; }
  __device__ static unsigned thread() { return kTeams == 1 ? threadIdx.x : threadIdx.x % Block; }
  __device__ static unsigned rank() { return blockIdx.x * kTeams + index_in_block(); }
  __device__ static unsigned size() { return gridDim.x * kTeams; }
  __device__ static void sync() {
    if constexpr (kTeams == 1) {
      __syncthreads();
    } else {  // barrier 0 is __syncthreads()'s
      asm volatile("bar.sync %0, %1;" ::"r"(index_in_block() + 1), "n"(Block) : "memory");
    }
  }
};

// ---- totals

/// Joins the totals of each warp's lanes, then of the team's warps; thread 0 of the team gets the result.
template <class Team = ThreadTeam<>, class Totals>
__device__ void join_totals(Totals& totals, RankNorm norm) {
  struct Words {
    std::uint32_t word[sizeof(Totals) / 4];
  };
  for (unsigned stride = kWarpLanes / 2; stride > 0; stride /= 2) {
    auto words = __builtin_bit_cast(Words, totals);
    for (std::uint32_t& word : words.word) word = __shfl_xor_sync(~0u, word, stride);
    totals.join(__builtin_bit_cast(Totals, words), norm);
  }
  // Raw bytes, since shared variables have no constructors.
  __shared__ alignas(Totals) unsigned char workspace[Team::kPerBlock * Team::kWarps * sizeof(Totals)];
  auto* const by_warp = reinterpret_cast<Totals*>(workspace) + Team::index_in_block() * Team::kWarps;
  const unsigned thread = Team::thread();
  if (thread % kWarpLanes == 0) by_warp[thread / kWarpLanes] = totals;
  Team::sync();
  if (thread == 0) {
    for (unsigned warp = 1; warp < Team::kWarps; ++warp) totals.join(by_warp[warp], norm);
  }
}

/// Joins `count` partial totals in one block of kRowBlock threads; thread 0 gets the result.
template <class Totals>
__device__ Totals fold_partials(const Totals* partial, unsigned count, RankNorm norm) {
  Totals sum;
  for (unsigned i = threadIdx.x; i < count; i += kRowBlock) sum.join(partial[i], norm);
  join_totals(sum, norm);
  return sum;
}

/// One block joins `count` partial totals, with `*totals` if `adds`, and stores the result in `*totals`.
template <class Totals>
__global__ void __launch_bounds__(kRowBlock)
    fold_totals_kernel(const Totals* partial, unsigned count, RankNorm norm, bool adds, Totals* totals) {
  Totals sum = fold_partials(partial, count, norm);
  if (threadIdx.x != 0) return;
  if (adds) sum.join(*totals, norm);
  *totals = sum;
}

// ---- rows

/// The sum over a team, in its thread 0. All threads of the team call it; it ends with a barrier.
template <class Team>
__device__ std::uint64_t sum_team(std::uint64_t value) {
  __shared__ std::uint64_t workspace[Team::kPerBlock * Team::kWarps];
  auto* const by_warp = workspace + Team::index_in_block() * Team::kWarps;
  value = cuda::warp_sum(value);
  if (Team::thread() % kWarpLanes == 0) by_warp[Team::thread() / kWarpLanes] = value;
  Team::sync();
  if (Team::thread() == 0) {
    for (unsigned warp = 1; warp < Team::kWarps; ++warp) value += by_warp[warp];
  }
  Team::sync();
  return value;
}

/// Calls visit(i, lanes) for every i below `count`, with `Lanes` lanes a row, by all blocks. All lanes of a
/// warp make equally many calls, since they may sum together; in some calls i is not below `count`.
template <unsigned Lanes, class Visit>
__device__ void for_each_row(std::uint64_t count, const Visit& visit) {
  using Group = std::conditional_t<Lanes == 1, SingleLane, Tile<std::max(Lanes, 2u)>>;
  constexpr unsigned kRows = kRowBlock / Lanes;  // of a block at once
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
