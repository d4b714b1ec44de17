// The kernels of a sweep. Rows are classed by in-degree, and a thread, a tile of a warp, a warp or a block
// updates a row, so that no lane waits for a hub. One thread writes each row, without atomics; blocks write
// partial totals, which one block joins.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/exec/stream.cuh"
#include "engine/pagerank/class_rows.cuh"
#include "engine/pagerank/static/sweep_view.hpp"
#include "engine/traverse/degree_class.hpp"

namespace sluice::pagerank {

inline constexpr unsigned kMaxBlocks = 4096;  ///< blocks loop over more rows, so partial totals stay few

/// Threads of the block that gathers for a hub.
template <class Sources>
inline constexpr unsigned kHubBlock = kRowBlock;
/// More of them for coded lists, since each lane decodes what it gathers. With 256 the longest row of a
/// partition took 0.58 ms on an H200, all others 0.18 (Kronecker 24).
template <>
inline constexpr unsigned kHubBlock<CodedSources> = 1024;

/// Blocks of a multiprocessor: 40 registers a thread, or 48 for coded lists, so that many gathers are in
/// flight.
template <class Sources>
inline constexpr unsigned kSweepBlocks = 6;
template <>
inline constexpr unsigned kSweepBlocks<CodedSources> = 5;

/// Rows of one partition, in device memory: those of class c are rows[begin[c] .. begin[c + 1]).
struct RowClasses {
  const std::uint32_t* rows = nullptr;
  std::uint64_t begin[kListClasses + 1] = {};
};

// ---- kernels

/// Sweeps the rows of one class, `Lanes` lanes a row.
template <unsigned Lanes, class Share, class Sources>
__global__ void __launch_bounds__(kRowBlock, kSweepBlocks<Sources>)
    sweep_rows_kernel(SweepView<Share> view, const FixedRank* dangling, const std::uint32_t* rows,
                      std::uint64_t count, Sources sources, SweepTotals* partial) {
  view.update.set_dangling(*dangling);
  SweepTotals totals;
  for_each_row<Lanes>(count, [&](std::uint64_t i, const auto& lanes) {
    const bool valid = i < count;
    const std::uint64_t row = valid ? rows[i] : 0;
    const FixedRank sum = cuda::warp_sum<Lanes>(valid ? sources.template gather<Share>(view, row, lanes) : 0);
    if (valid && threadIdx.x % Lanes == 0) view.update_row(row, sum, totals);
  });
  join_totals(totals, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

/// Sweeps hubs, a block a row.
template <class Share, class Sources>
__global__ void __launch_bounds__(kHubBlock<Sources>)
    sweep_hubs_kernel(SweepView<Share> view, const FixedRank* dangling, const std::uint32_t* rows,
                      std::uint64_t count, Sources sources, SweepTotals* partial) {
  using Team = ThreadTeam<kHubBlock<Sources>>;
  view.update.set_dangling(*dangling);
  SweepTotals totals;
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const FixedRank sum = sum_team<Team>(sources.template gather<Share>(
        view, rows[i], Tile<kWarpLanes>{}, threadIdx.x / kWarpLanes, Team::kWarps));
    if (threadIdx.x == 0) view.update_row(rows[i], sum, totals);
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;  // the only thread with totals
}

/// Sets every row to `rank`.
template <class Share>
__global__ void __launch_bounds__(kRowBlock)
    put_rows_kernel(SweepView<Share> view, FixedRank rank, std::uint64_t count, SweepTotals* partial) {
  SweepTotals totals;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kRowBlock + threadIdx.x; row < count;
       row += std::uint64_t{gridDim.x} * kRowBlock) {
    view.put(row, rank, totals);
  }
  join_totals(totals, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

// ---- launchers

inline unsigned sweep_grid(std::uint64_t rows, unsigned rows_per_block) {
  const std::uint64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
  return static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

/// The most partial totals.
inline constexpr unsigned kMaxPartials = kListClasses * kMaxBlocks;

/// Sweeps the rows of a partition and joins their totals to `totals`.
template <class Share, class Sources>
void sweep_rows(const SweepView<Share>& view, const FixedRank* dangling, const RowClasses& classes,
                const Sources& sources, SweepTotals* partial, SweepTotals* totals,
                const cuda::Stream& stream) {
  unsigned blocks = 0;
  const auto launch = [&](unsigned row_class, unsigned lanes, unsigned block, auto kernel) {
    const std::uint64_t begin = classes.begin[row_class], count = classes.begin[row_class + 1] - begin;
    if (count == 0) return;
    const unsigned grid = sweep_grid(count, block / lanes);
    kernel<<<grid, block, 0, stream.get()>>>(view, dangling, classes.rows + begin, count, sources,
                                             partial + blocks);
    cuda::check_launch("sweep_rows");
    blocks += grid;
  };
  constexpr unsigned kHub = kHubBlock<Sources>;
  launch(3, kHub, kHub, sweep_hubs_kernel<Share, Sources>);  // the longest first
  launch(2, kWarpLanes, kRowBlock, sweep_rows_kernel<kWarpLanes, Share, Sources>);
  launch(1, kTileLanes, kRowBlock, sweep_rows_kernel<kTileLanes, Share, Sources>);
  launch(0, 1, kRowBlock, sweep_rows_kernel<1, Share, Sources>);
  if (blocks > 0) fold_totals(partial, blocks, view.norm, true, totals, stream.get());
}

template <class Share>
void put_rows(const SweepView<Share>& view, FixedRank rank, std::uint64_t count, SweepTotals* partial,
              SweepTotals* totals, const cuda::Stream& stream) {
  if (count == 0) return;
  const unsigned grid = sweep_grid(count, kRowBlock);
  put_rows_kernel<<<grid, kRowBlock, 0, stream.get()>>>(view, rank, count, partial);
  cuda::check_launch("put_rows_kernel");
  fold_totals(partial, grid, view.norm, true, totals, stream.get());
}

}  // namespace sluice::pagerank
