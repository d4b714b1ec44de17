// The kernels of a sweep. Rows are sorted into classes by in-degree, and a row is renewed by one thread, a
// tile of a warp, a warp or a block, so that no lane waits for a hub; each row is written by one thread, and
// nothing is atomic: blocks leave their totals side by side, and one block adds them up.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/group.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/degree_class.hpp"
#include "engine/pagerank/static/join_block.cuh"
#include "engine/pagerank/static/sweep_view.hpp"

namespace sluice::pagerank {

inline constexpr unsigned kTileLanes = 8;
inline constexpr unsigned kWarpLanes = 32;

inline constexpr unsigned kSweepBlock = 256;   ///< eight warps: enough to hide gathers, few registers each
inline constexpr unsigned kMostBlocks = 4096;  ///< beyond them blocks take further rows; totals stay few

// ---- kernels

/// `Lanes` lanes a row.
template <unsigned Lanes, class Share, class Sources>
__global__ void __launch_bounds__(kSweepBlock)
    sweep_rows_kernel(SweepView<Share> view, const FixedRank* dangling, const std::uint32_t* rows,
                      std::uint64_t count, Sources sources, SweepTotals* partial) {
  view.update.spread(*dangling);
  using Group = std::conditional_t<Lanes == 1, SingleLane, Tile<std::max(Lanes, 2u)>>;
  constexpr unsigned kRows = kSweepBlock / Lanes;  // a block's
  const unsigned lane = threadIdx.x % Lanes;
  SweepTotals totals;
  // All lanes of a warp go round equally often, for they add up together.
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kRows; base < count;
       base += std::uint64_t{gridDim.x} * kRows) {
    const std::uint64_t at = base + threadIdx.x / Lanes;
    const bool valid = at < count;
    const std::uint64_t row = valid ? rows[at] : 0;
    FixedRank sum = valid ? sources.template gather<Share>(view, row, Group{}) : 0;
    if constexpr (Lanes > 1) sum = sum_lanes<Lanes>(sum);
    if (valid && lane == 0) view.renew(row, sum, totals);
  }
  join_block<kSweepBlock>(totals, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

/// A block a row.
template <class Share, class Sources>
__global__ void __launch_bounds__(Sources::kHubBlock)
    sweep_hubs_kernel(SweepView<Share> view, const FixedRank* dangling, const std::uint32_t* rows,
                      std::uint64_t count, Sources sources, SweepTotals* partial) {
  __shared__ FixedRank by_warp[Sources::kHubBlock / kWarpLanes];
  view.update.spread(*dangling);
  SweepTotals totals;
  for (std::uint64_t at = blockIdx.x; at < count; at += gridDim.x) {
    const std::uint64_t row = rows[at];
    const FixedRank sum = sum_lanes<kWarpLanes>(sources.template gather<Share>(
        view, row, Tile<kWarpLanes>{}, threadIdx.x / kWarpLanes, Sources::kHubBlock / kWarpLanes));
    if (threadIdx.x % kWarpLanes == 0) by_warp[threadIdx.x / kWarpLanes] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      FixedRank all = 0;
      for (const FixedRank part : by_warp) all += part;
      view.renew(row, all, totals);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;  // it alone has any
}

/// Every row begins with `rank`.
template <class Share>
__global__ void __launch_bounds__(kSweepBlock)
    put_rows_kernel(SweepView<Share> view, FixedRank rank, std::uint64_t count, SweepTotals* partial) {
  SweepTotals totals;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kSweepBlock + threadIdx.x; row < count;
       row += std::uint64_t{gridDim.x} * kSweepBlock) {
    view.put(row, rank, totals);
  }
  join_block<kSweepBlock>(totals, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

/// One block adds `count` partial totals to `totals`.
inline __global__ void __launch_bounds__(kSweepBlock)
    fold_totals_kernel(const SweepTotals* partial, unsigned count, RankNorm norm, SweepTotals* totals) {
  const SweepTotals sum = fold_parts<kSweepBlock>(partial, count, norm);
  if (threadIdx.x == 0) totals->join(sum, norm);
}

// ---- launchers

/// Rows of one partition, in memory of the device: those of class c are rows[begin[c] .. begin[c + 1]).
struct RowClasses {
  const std::uint32_t* rows = nullptr;
  std::uint64_t begin[kListClasses + 1] = {};
};

inline unsigned sweep_grid(std::uint64_t rows, unsigned rows_a_block) {
  const std::uint64_t blocks = (rows + rows_a_block - 1) / rows_a_block;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

/// The most partial totals.
inline constexpr unsigned kPartials = kListClasses * kMostBlocks;

inline void fold_totals(const SweepTotals* partial, unsigned count, RankNorm norm, SweepTotals* totals,
                        const cuda::Stream& stream) {
  fold_totals_kernel<<<1, kSweepBlock, 0, stream.get()>>>(partial, count, norm, totals);
  cuda::check_launch("fold_totals_kernel");
}

/// Renews the rows of a partition and adds what they come to, to `totals`.
template <class Share, class Sources>
void sweep_rows(const SweepView<Share>& view, const FixedRank* dangling, const RowClasses& classes,
                const Sources& sources, SweepTotals* partial, SweepTotals* totals,
                const cuda::Stream& stream) {
  unsigned blocks = 0;
  const auto launch = [&](unsigned of_class, unsigned lanes, unsigned block, auto kernel) {
    const std::uint64_t begin = classes.begin[of_class], count = classes.begin[of_class + 1] - begin;
    if (count == 0) return;
    const unsigned grid = sweep_grid(count, block / lanes);
    kernel<<<grid, block, 0, stream.get()>>>(view, dangling, classes.rows + begin, count, sources,
                                             partial + blocks);
    cuda::check_launch("sweep_rows");
    blocks += grid;
  };
  constexpr unsigned kHubBlock = Sources::kHubBlock;
  launch(3, kHubBlock, kHubBlock, sweep_hubs_kernel<Share, Sources>);  // the longest first
  launch(2, kWarpLanes, kSweepBlock, sweep_rows_kernel<kWarpLanes, Share, Sources>);
  launch(1, kTileLanes, kSweepBlock, sweep_rows_kernel<kTileLanes, Share, Sources>);
  launch(0, 1, kSweepBlock, sweep_rows_kernel<1, Share, Sources>);
  if (blocks > 0) fold_totals(partial, blocks, view.norm, totals, stream);
}

template <class Share>
void put_rows(const SweepView<Share>& view, FixedRank rank, std::uint64_t count, SweepTotals* partial,
              SweepTotals* totals, const cuda::Stream& stream) {
  if (count == 0) return;
  const unsigned grid = sweep_grid(count, kSweepBlock);
  put_rows_kernel<<<grid, kSweepBlock, 0, stream.get()>>>(view, rank, count, partial);
  cuda::check_launch("put_rows_kernel");
  fold_totals(partial, grid, view.norm, totals, stream);
}

}  // namespace sluice::pagerank
