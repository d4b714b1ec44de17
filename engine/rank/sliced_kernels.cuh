// The sweep over sliced rows: one launch for rows of any length. Blocks take hubs first; then every warp
// claims work, the longest rows first, until nothing is left. A warp sums 32 rows before it renews them, a
// row a lane, for what a renewal computes would else be computed by one lane while 31 wait.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "engine/rank/sliced_rows.cuh"
#include "engine/rank/sweep_kernels.cuh"

namespace sluice::cuda {

/// What a warp claims at once: claims meet in one word of memory.
inline constexpr std::uint64_t kLongAtOnce = 4;
inline constexpr std::uint64_t kSlicesAtOnce = 4;
/// Entries that a lane reads before it gathers for the first of them.
inline constexpr unsigned kInFlight = 8;
/// Blocks of an SM: 64 registers a thread.
inline constexpr unsigned kSlicedBlocks = 4;

/// An entry that is read once an iteration leaves its place in L1 to contributions.
template <class T>
__device__ T read_past_l1(const T* from) {
  static_assert(sizeof(T) == 4);
  std::uint32_t bits;
  asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(bits) : "l"(from));
  if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(bits);
  } else {
    return bits;
  }
}

__device__ inline std::uint64_t lesser(std::uint64_t a, std::uint64_t b) {
  return a < b ? a : b;
}

/// A sweep as the rows below are worked on. Whatever else goes over them has the same members: kWeighted, a
/// Sum with zero as Sum{}, and a Totals.
template <class Share>
struct SlicedSweepView {
  using Sum = FixedRank;
  using Totals = SweepTotals;
  static constexpr bool kWeighted = Share::kWeighted;

  SweepView<Share> sweep;

  /// What entry `position`, of this source, gives row `number`.
  __device__ Sum carried(std::uint64_t, std::uint32_t source, float weight, std::uint64_t) const {
    return Share::carried(__ldg(sweep.shares + source), weight);
  }
  __device__ Sum add(Sum a, Sum b) const { return a + b; }
  __device__ void renew(std::uint64_t number, Sum sum, Totals& totals) const {
    sweep.renew(number, sum, totals);
  }
};

/// What entries start, start + stride, ... give to a row, `count` of them.
template <class View>
__device__ typename View::Sum gather_entries(const View& view, const SlicedView& rows, std::uint64_t number,
                                             std::uint64_t start, std::uint64_t count, unsigned stride) {
  typename View::Sum sum{};
  const std::uint32_t* sources = rows.sources + start;
  const float* weights = View::kWeighted ? rows.weights + start : nullptr;
  for (std::uint64_t i = 0; i < count; i += kInFlight) {
    std::uint32_t source[kInFlight];
    float weight[kInFlight];
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      const bool more = i + j < count;
      source[j] = more ? read_past_l1(sources + (i + j) * stride) : rows.nobody;
      weight[j] = View::kWeighted && more ? read_past_l1(weights + (i + j) * stride) : 1.0f;
    }
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      if (i + j < count)
        sum = view.add(sum, view.carried(number, source[j], weight[j], start + (i + j) * stride));
    }
  }
  return sum;
}

/// The sum over a warp, in all lanes.
template <class View>
__device__ typename View::Sum add_warp(const View& view, typename View::Sum sum) {
  using Word = std::conditional_t<sizeof sum == 8, unsigned long long, unsigned>;
  static_assert(sizeof(Word) == sizeof sum);
  for (unsigned stride = kWarpLanes / 2; stride > 0; stride /= 2) {
    const Word other = __shfl_xor_sync(~0u, static_cast<Word>(sum), static_cast<int>(stride));
    sum = view.add(sum, static_cast<typename View::Sum>(other));
  }
  return sum;
}

/// The totals of all ranks.
inline __global__ void join_ranks_kernel(const SweepTotals* by_rank, int ranks, RankNorm norm,
                                         SweepTotals* totals) {
  SweepTotals sum;
  for (int rank = 0; rank < ranks; ++rank) sum.join(by_rank[rank], norm);
  *totals = sum;
}

/// Adds up the totals of a warp's lanes, then of a block's warps; thread 0 has them.
__device__ inline void join_warps(SweepTotals& totals, RankNorm norm) {
  constexpr unsigned kWords = sizeof(SweepTotals) / 4;
  static_assert(sizeof(SweepTotals) % 4 == 0);
  for (unsigned stride = kWarpLanes / 2; stride > 0; stride /= 2) {
    std::uint32_t words[kWords];
    memcpy(words, &totals, sizeof totals);
    for (std::uint32_t& word : words) word = __shfl_xor_sync(~0u, word, stride);
    SweepTotals other;
    memcpy(&other, words, sizeof other);
    totals.join(other, norm);
  }
  __shared__ alignas(SweepTotals) unsigned char room[kSweepBlock / kWarpLanes * sizeof(SweepTotals)];
  auto* const by_warp = reinterpret_cast<SweepTotals*>(room);
  if (threadIdx.x % kWarpLanes == 0) by_warp[threadIdx.x / kWarpLanes] = totals;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < kSweepBlock / kWarpLanes; ++warp) totals.join(by_warp[warp], norm);
  }
}

/// Rows [0, hubs), a block each.
template <class View>
__device__ void sweep_hubs(const View& view, const SlicedView& rows, typename View::Totals& totals) {
  __shared__ typename View::Sum by_warp[kSweepBlock / kWarpLanes];
  for (std::uint64_t row = blockIdx.x; row < rows.hubs; row += gridDim.x) {
    const std::uint64_t start = rows.starts[row], size = rows.starts[row + 1] - start;
    const std::uint64_t mine = size > threadIdx.x ? (size - threadIdx.x + kSweepBlock - 1) / kSweepBlock : 0;
    const auto sum =
        add_warp(view, gather_entries(view, rows, rows.number(row), start + threadIdx.x, mine, kSweepBlock));
    if (threadIdx.x % kWarpLanes == 0) by_warp[threadIdx.x / kWarpLanes] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      typename View::Sum all{};
      for (const auto part : by_warp) all = view.add(all, part);
      view.renew(rows.number(row), all, totals);
    }
    __syncthreads();
  }
}

/// Rows [first, end), no more than 32, of those that warps read one by one.
template <class View>
__device__ void sweep_lists(const View& view, const SlicedView& rows, std::uint64_t first, std::uint64_t end,
                            unsigned lane, typename View::Totals& totals) {
  typename View::Sum mine{};
  for (std::uint64_t row = first; row < end; ++row) {
    const std::uint64_t start = rows.starts[row], size = rows.starts[row + 1] - start;
    const auto sum = add_warp(
        view, gather_entries(view, rows, rows.number(row), start + lane, size / kWarpLanes, kWarpLanes));
    if (row - first == lane) mine = sum;
  }
  if (first + lane < end) view.renew(rows.number(first + lane), mine, totals);
}

/// One slice.
template <class View>
__device__ void sweep_slice(const View& view, const SlicedView& rows, std::uint64_t slice, unsigned lane,
                            typename View::Totals& totals) {
  const std::uint64_t row = rows.lists + slice * kSlice + lane;
  if (row >= rows.count) return;
  const std::uint64_t start = rows.starts[rows.lists + slice],
                      width = (rows.starts[rows.lists + slice + 1] - start) / kSlice,
                      number = rows.number(row);
  view.renew(number, gather_entries(view, rows, number, start + lane, width, kSlice), totals);
}

/// All rows, by all blocks. `claimed` is 0 before.
template <class View>
__device__ void sweep_sliced(const View& view, const SlicedView& rows, unsigned long long* claimed,
                             typename View::Totals& totals) {
  sweep_hubs(view, rows, totals);
  const unsigned lane = threadIdx.x % kWarpLanes;
  // Tasks: those of long lists, of lists, of slices.
  const std::uint64_t longs = (rows.longs - rows.hubs + kLongAtOnce - 1) / kLongAtOnce,
                      lists = longs + (rows.lists - rows.longs + kSlice - 1) / kSlice, slices = rows.slices(),
                      tasks = lists + (slices + kSlicesAtOnce - 1) / kSlicesAtOnce;
  for (;;) {
    unsigned long long task = 0;
    if (lane == 0) task = atomicAdd(claimed, 1);
    task = __shfl_sync(~0u, task, 0);
    if (task >= tasks) break;
    if (task < longs) {
      const std::uint64_t first = rows.hubs + task * kLongAtOnce;
      sweep_lists(view, rows, first, lesser(first + kLongAtOnce, rows.longs), lane, totals);
    } else if (task < lists) {
      const std::uint64_t first = rows.longs + (task - longs) * kSlice;
      sweep_lists(view, rows, first, lesser(first + kSlice, rows.lists), lane, totals);
    } else {
      const std::uint64_t first = (task - lists) * kSlicesAtOnce, end = lesser(first + kSlicesAtOnce, slices);
      for (std::uint64_t slice = first; slice < end; ++slice) sweep_slice(view, rows, slice, lane, totals);
    }
  }
  __syncwarp();
}

template <class Share>
__global__ void __launch_bounds__(kSweepBlock, kSlicedBlocks)
    sweep_sliced_kernel(SlicedSweepView<Share> view, SlicedView rows, const FixedRank* dangling,
                        unsigned long long* claimed, SweepTotals* partial) {
  view.sweep.update.spread(*dangling);
  SweepTotals totals;
  sweep_sliced(view, rows, claimed, totals);
  join_warps(totals, view.sweep.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

}  // namespace sluice::cuda
