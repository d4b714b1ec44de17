// The sweep over sliced rows: one launch for rows of any length. Blocks take hubs first; then every warp
// claims tasks, the longest rows first, until none is left. A warp sums up to 32 rows before it updates them,
// a row a lane; else one lane would compute each update while 31 wait.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "engine/exec/device_clock.cuh"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/pagerank/static/sliced_rows.cuh"
#include "engine/pagerank/static/sweep_kernels.cuh"

namespace sluice::pagerank {

/// Entries that a lane reads before it gathers the contribution of the first.
inline constexpr unsigned kInFlight = 8;
/// Blocks of a multiprocessor: 64 registers a thread.
inline constexpr unsigned kSlicedBlocks = 4;

/// Reads an entry without caching it in L1: it is read once an iteration, and L1 is left to contributions.
template <class T>
__device__ T load_bypassing_l1(const T* from) {
  static_assert(sizeof(T) == 4);
  std::uint32_t bits;
  asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(bits) : "l"(from));
  if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(bits);
  } else {
    return bits;
  }
}

/// The sweep as the functions below use it. `kFused`: the same kernel wrote the contributions, so they are
/// not read through the read-only cache.
template <class Share, bool kFused = false>
struct SlicedSweepView {
  static constexpr bool kWeighted = Share::kWeighted;

  SweepView<Share> sweep;

  __device__ FixedRank edge_contribution(std::uint32_t source, float weight) const {
    return Share::edge_contribution(kFused ? sweep.shares[source] : __ldg(sweep.shares + source), weight);
  }
};

/// The sum of contributions along `count` entries of a row: start, start + stride, ...
template <class View>
__device__ FixedRank gather_entries(const View& view, const SlicedView& rows, std::uint64_t start,
                                    std::uint64_t count, unsigned stride) {
  FixedRank sum = 0;
  const std::uint32_t* sources = rows.sources + start;
  const float* weights = View::kWeighted ? rows.weights + start : nullptr;
  for (std::uint64_t i = 0; i < count; i += kInFlight) {
    std::uint32_t source[kInFlight];
    float weight[kInFlight];
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      const bool valid = i + j < count;
      source[j] = valid ? load_bypassing_l1(sources + (i + j) * stride) : rows.no_source;
      weight[j] = View::kWeighted && valid ? load_bypassing_l1(weights + (i + j) * stride) : 1.0f;
    }
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      if (i + j < count) sum += view.edge_contribution(source[j], weight[j]);
    }
  }
  return sum;
}

/// Joins the totals of all ranks.
inline __global__ void join_ranks_kernel(const SweepTotals* by_rank, int ranks, RankNorm norm,
                                         SweepTotals* totals) {
  SweepTotals sum;
  for (int rank = 0; rank < ranks; ++rank) sum.join(by_rank[rank], norm);
  *totals = sum;
}

/// Sweeps rows [0, hubs), a team a row.
template <class Team, class View>
__device__ void sweep_hubs(const View& view, const SlicedView& rows, SweepTotals& totals) {
  const unsigned thread = Team::thread();
  for (std::uint64_t row = Team::rank(); row < rows.hubs; row += Team::size()) {
    const std::uint64_t start = rows.starts[row], size = rows.starts[row + 1] - start;
    const std::uint64_t entries = size > thread ? (size - thread + kRowBlock - 1) / kRowBlock : 0;
    const FixedRank sum = sum_team<Team>(gather_entries(view, rows, start + thread, entries, kRowBlock));
    if (thread == 0) view.sweep.update_row(rows.number(row), sum, totals);
  }
}

/// Sweeps rows [first, end), at most 32, row by row with one warp.
template <class View>
__device__ void sweep_lists(const View& view, const SlicedView& rows, std::uint64_t first, std::uint64_t end,
                            unsigned lane, SweepTotals& totals) {
  FixedRank own_sum = 0;
  for (std::uint64_t row = first; row < end; ++row) {
    const std::uint64_t start = rows.starts[row], size = rows.starts[row + 1] - start;
    const FixedRank sum =
        cuda::warp_sum(gather_entries(view, rows, start + lane, size / kWarpLanes, kWarpLanes));
    if (row - first == lane) own_sum = sum;
  }
  if (first + lane < end) view.sweep.update_row(rows.number(first + lane), own_sum, totals);
}

/// Sweeps one slice, a row a lane.
template <class View>
__device__ void sweep_slice(const View& view, const SlicedView& rows, std::uint64_t slice, unsigned lane,
                            SweepTotals& totals) {
  const std::uint64_t row = rows.lists + slice * kSlice + lane;
  if (row >= rows.count) return;
  const std::uint64_t start = rows.starts[rows.lists + slice],
                      width = (rows.starts[rows.lists + slice + 1] - start) / kSlice;
  view.sweep.update_row(rows.number(row), gather_entries(view, rows, start + lane, width, kSlice), totals);
}

/// One piece, with the interface of SlicedPieces.
struct SinglePiece {
  __device__ static constexpr unsigned size() { return 1; }
  __device__ const SlicedView& operator[](unsigned) const { return rows; }

  const SlicedView& rows;
};

/// Sweeps the rows with more than kMaxListDegree in-edges of all pieces in `long_pieces`, then the other rows
/// of `rows`. All blocks call it, with `kTeams` teams each. `*claimed` is 0 before.
template <unsigned kTeams, class View, class LongPieces>
__device__ void sweep_sliced(const View& view, const LongPieces& long_pieces, const SlicedView& rows,
                             unsigned long long* claimed, SweepTotals& totals) {
  std::uint64_t longs = 0;
  for (unsigned p = 0; p < long_pieces.size(); ++p) {
    sweep_hubs<ThreadTeam<kRowBlock, kTeams>>(view, long_pieces[p], totals);
    longs += long_pieces[p].long_tasks();
  }
  const unsigned lane = threadIdx.x % kWarpLanes;
  // Tasks in this order: long rows, other rows outside slices, slices.
  const std::uint64_t lists = longs + rows.list_tasks(), slices = rows.slices(),
                      tasks = lists + rows.slice_tasks();
  for (;;) {
    unsigned long long task = 0;
    if (lane == 0) task = atomicAdd(claimed, 1);
    task = __shfl_sync(~0u, task, 0);
    if (task >= tasks) break;
    if (task < longs) {
      unsigned p = 0;
      for (; p + 1 < long_pieces.size() && task >= long_pieces[p].long_tasks(); ++p)
        task -= long_pieces[p].long_tasks();
      const std::uint64_t per_claim = long_pieces[p].longs_per_claim,
                          first = long_pieces[p].hubs + task * per_claim;
      sweep_lists(view, long_pieces[p], first, min(first + per_claim, long_pieces[p].longs), lane, totals);
    } else if (task < lists) {
      const std::uint64_t first = rows.longs + (task - longs) * rows.lists_per_claim;
      sweep_lists(view, rows, first, min(first + rows.lists_per_claim, rows.lists), lane, totals);
    } else {
      const std::uint64_t first = (task - lists) * rows.slices_per_claim,
                          end = min(first + rows.slices_per_claim, slices);
      for (std::uint64_t slice = first; slice < end; ++slice) sweep_slice(view, rows, slice, lane, totals);
    }
  }
  __syncwarp();
}

/// Sweeps all rows of the only piece.
template <class View>
__device__ void sweep_sliced(const View& view, const SlicedView& rows, unsigned long long* claimed,
                             SweepTotals& totals) {
  sweep_sliced<1>(view, SinglePiece{rows}, rows, claimed, totals);
}

template <class Share>
__global__ void __launch_bounds__(kRowBlock, kSlicedBlocks)
    sweep_sliced_kernel(SlicedSweepView<Share> view, SlicedView rows, const FixedRank* dangling,
                        unsigned long long* claimed, SweepTotals* partial) {
  view.sweep.update.set_dangling(*dangling);
  SweepTotals totals;
  sweep_sliced(view, rows, claimed, totals);
  join_totals(totals, view.sweep.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = totals;
}

/// What a kernel of several iterations reads and writes.
struct FusedSweeps {
  unsigned max_iterations = 0;            ///< iterations of the kernel
  double tolerance = 0;                   ///< stops at this change or a smaller one
  double stall_floor = 0;                 ///< at an L1 change of at most this the host decides
  unsigned long long* claimed = nullptr;  ///< [2], 0 at the start
  SweepTotals* partial = nullptr;         ///< [blocks]
  SweepTotals* totals = nullptr;          ///< [max_iterations]; `before` may be one of them
  unsigned* completed = nullptr;          ///< iterations made; 0 until the kernel is to stop
  unsigned long long* times = nullptr;    ///< [max_iterations + 1] the start, and the end of each iteration
};

/// Iterations alternate between the two views, beginning with `even`. All blocks must be resident at once.
template <class Share>
__global__ void __launch_bounds__(kRowBlock, kSlicedBlocks)
    fused_sweeps_kernel(SlicedSweepView<Share, true> even, SlicedSweepView<Share, true> odd, SlicedView rows,
                        const SweepTotals* before, FusedSweeps run) {
  const auto grid = cooperative_groups::this_grid();
  if (grid.thread_rank() == 0) run.times[0] = cuda::nanoseconds_now();
  for (unsigned i = 0; i < run.max_iterations; ++i) {
    SlicedSweepView<Share, true> view = i % 2 == 0 ? even : odd;
    view.sweep.update.set_dangling(load(&before->dangling));
    SweepTotals totals;
    sweep_sliced(view, rows, run.claimed + i % 2, totals);
    join_totals(totals, view.sweep.norm);
    if (threadIdx.x == 0) run.partial[blockIdx.x] = totals;
    grid.sync();
    before = run.totals + i;
    if (blockIdx.x == 0) {
      const SweepTotals sum = fold_partials(run.partial, gridDim.x, view.sweep.norm);
      if (threadIdx.x == 0) {
        run.totals[i] = sum;
        run.claimed[(i + 1) % 2] = 0;
        run.times[i + 1] = cuda::nanoseconds_now();
        const RankChange& change = sum.change;
        if (i + 1 == run.max_iterations || change.norm(view.sweep.norm) <= run.tolerance ||
            change.l1() <= run.stall_floor)
          *run.completed = i + 1;
      }
    }
    grid.sync();
    if (load(run.completed) != 0) return;
  }
}

/// Sweeps one piece, after the long rows of those in `long_pieces`. A block of kSlicedBlocks teams fills a
/// multiprocessor, so that a smaller grid leaves whole multiprocessors free.
template <class Share, unsigned kTeams>
__global__ void __launch_bounds__(kTeams* kRowBlock, kSlicedBlocks / kTeams)
    sweep_piece_kernel(SlicedSweepView<Share> view, __grid_constant__ const SlicedPieces long_pieces,
                       SlicedView rows, const FixedRank* dangling, unsigned long long* claimed,
                       SweepTotals* partial) {
  view.sweep.update.set_dangling(*dangling);
  SweepTotals totals;
  sweep_sliced<kTeams>(view, long_pieces, rows, claimed, totals);
  using Team = ThreadTeam<kRowBlock, kTeams>;
  join_totals<Team>(totals, view.sweep.norm);
  if (Team::thread() == 0) partial[Team::rank()] = totals;
}

}  // namespace sluice::pagerank
