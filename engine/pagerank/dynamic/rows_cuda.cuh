// The kernels of an iteration over affected vertices, by degree: gather, settle, expand (rank_view.hpp). A
// vertex's sum is found by the lanes of its class, its rank by one thread; what changed enough is appended to
// a list by out-degree, whose out-neighbours a second family of kernels flags and appends to the next list.
// Only integers are added by several threads, so nothing depends on who comes first but the order of the
// lists.
//
// They are launched here, beside CudaExecutor, which has no lists by degree.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "engine/exec/cuda_executor.cuh"
#include "engine/pagerank/dynamic/rank_state.hpp"
#include "engine/pagerank/dynamic/settle.hpp"
#include "engine/pagerank/static/join_block.cuh"

namespace sluice::pagerank {

inline constexpr unsigned kListBlock = 256;          ///< eight warps: enough to hide gathers
inline constexpr unsigned kListBlocks = kMostParts;  ///< beyond them blocks take further entries
inline constexpr unsigned kSlices = 32;              ///< of a long row, for as many blocks
/// So many vertices are settled by one block sooner than by several whose totals a second kernel adds up.
inline constexpr unsigned kOneBlock = 4 * kListBlock;

// ---- kernels

template <unsigned Lanes>
__device__ FixedRank add_lanes(FixedRank value) {
  for (unsigned stride = Lanes / 2; stride > 0; stride /= 2) {
    value += __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), static_cast<int>(stride), Lanes);
  }
  return value;
}

/// Sums of the members of one class, `Lanes` lanes a vertex, by all blocks.
template <class Share, unsigned Lanes>
__device__ void gather_rows(const DynamicView<Share>& view, const VertexList& members, unsigned of_class,
                            std::uint64_t count) {
  constexpr unsigned kRows = kListBlock / Lanes;  // a block's
  const unsigned lane = threadIdx.x % Lanes;
  // All lanes of a warp go round equally often, for they add up together.
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kRows; base < count;
       base += std::uint64_t{gridDim.x} * kRows) {
    const std::uint64_t i = base + threadIdx.x / Lanes;
    const Vertex v = i < count ? members.at(of_class, i) : 0;
    const bool gathers = i < count && !view.known[v] && view.gathers(v);
    FixedRank sum = gathers ? view.at.gather(v, lane, Lanes) : 0;
    if constexpr (Lanes > 1) sum = add_lanes<Lanes>(sum);
    if (gathers && lane == 0) view.sums[v] = sum;
  }
}

template <class Share, unsigned Lanes>
__global__ void __launch_bounds__(kListBlock)
    gather_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t count) {
  gather_rows<Share, Lanes>(view, members, of_class, count);
}

/// Long rows: gridDim.y blocks a vertex, whose sums begin at 0.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    gather_long_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t count) {
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Vertex v = members.at(of_class, i);
    if (!view.gathers(v)) continue;
    const FixedRank sum = add_lanes<32>(
        view.at.gather(v, blockIdx.y * kListBlock + threadIdx.x, std::uint64_t{gridDim.y} * kListBlock));
    if (threadIdx.x % 32 == 0) fetch_add(&view.sums[v], sum);
  }
}

/// The next ranks of all members, whose sums are known, by all blocks; what the calling thread did.
template <class Share>
__device__ Settled settle_rows(const DynamicView<Share>& view, const VertexList& members,
                               const ListSizes& sizes, std::uint64_t count, const SettledLists& lists) {
  cuda::CudaLane lane(LaneOutput{});
  Settled done;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kListBlock + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * kListBlock) {
    settle_member(view, lists, members.at(sizes, i), done, lane);
  }
  return done;
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    settle_kernel(DynamicView<Share> view, VertexList members, ListSizes sizes, std::uint64_t count,
                  SettledLists lists, Settled* partial) {
  Settled done = settle_rows(view, members, sizes, count, lists);
  join_block<kListBlock>(done, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = done;
}

/// The sum of `count` parts, by one block; thread 0 has it.
__device__ inline Settled fold_settled(const Settled* partial, unsigned count, RankNorm norm) {
  Settled sum;
  for (unsigned i = threadIdx.x; i < count; i += kListBlock) sum.join(partial[i], norm);
  join_block<kListBlock>(sum, norm);
  return sum;
}

/// One block adds up `count` parts.
inline __global__ void __launch_bounds__(kListBlock)
    fold_settled_kernel(const Settled* partial, unsigned count, RankNorm norm, Settled* settled) {
  const Settled sum = fold_settled(partial, count, norm);
  if (threadIdx.x == 0) *settled = sum;
}

/// Out-neighbours of the sources of one class become members, `Lanes` lanes a source, by all blocks.
template <class Share, unsigned Lanes>
__device__ void expand_rows(const DynamicView<Share>& view, const VertexList& sources, unsigned of_class,
                            bool pushes, const VertexList& next) {
  const std::uint64_t count = sources.sizes[of_class];
  constexpr unsigned kRows = kListBlock / Lanes;
  cuda::CudaLane lane(LaneOutput{});
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kRows + threadIdx.x / Lanes; i < count;
       i += std::uint64_t{gridDim.x} * kRows) {
    const Vertex source = sources.at(of_class, i);
    const Difference<Share> difference(view, source, pushes);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + threadIdx.x % Lanes; e < end; e += Lanes)
      expand_edge(view, view.out, e, pushes, difference, next, lane);
  }
}

/// A part of the blocks, by turns: part `at` of `of`.
struct BlockPart {
  unsigned at, of;
};

/// The same for long rows: every one cut among the blocks of `slice`, the rows dealt out as `row` says.
template <class Share>
__device__ void expand_long_rows(const DynamicView<Share>& view, const VertexList& sources, bool pushes,
                                 const VertexList& next, BlockPart row, BlockPart slice) {
  const std::uint64_t count = sources.sizes[3], stride = std::uint64_t{slice.of} * kListBlock;
  cuda::CudaLane lane(LaneOutput{});
  for (std::uint64_t i = row.at; i < count; i += row.of) {
    const Vertex source = sources.at(3, i);
    const Difference<Share> difference(view, source, pushes);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + slice.at * kListBlock + threadIdx.x; e < end; e += stride)
      expand_edge(view, view.out, e, pushes, difference, next, lane);
  }
}

template <class Share, unsigned Lanes>
__global__ void __launch_bounds__(kListBlock)
    expand_kernel(DynamicView<Share> view, VertexList sources, unsigned of_class, const std::uint64_t* pushed,
                  VertexList next) {
  const Spread spread = spread_of(view, pushed);
  if (spread != Spread::nothing)
    expand_rows<Share, Lanes>(view, sources, of_class, spread == Spread::pushes, next);
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    expand_long_kernel(DynamicView<Share> view, VertexList sources, const std::uint64_t* pushed,
                       VertexList next) {
  const Spread spread = spread_of(view, pushed);
  if (spread != Spread::nothing)
    expand_long_rows(view, sources, spread == Spread::pushes, next, {blockIdx.x, gridDim.x},
                     {blockIdx.y, gridDim.y});
}

// ---- launchers

/// Blocks for `count` entries of `lanes` lanes each, never none.
inline unsigned list_grid(std::uint64_t count, unsigned lanes = 1) {
  const std::uint64_t blocks = (count * lanes + kListBlock - 1) / kListBlock;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kListBlocks));
}

/// The sums of all members whose lists are there, and that are not known.
template <class Share>
void gather_members(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view,
                    const VertexList& members, const ListSizes& sizes) {
  const cudaStream_t stream = state.executor.queue().get();
  const auto launch = [&](unsigned of_class, unsigned lanes, auto kernel) {
    const std::uint64_t count = sizes.count[of_class];
    if (count == 0) return;
    kernel<<<list_grid(count, lanes), kListBlock, 0, stream>>>(view, members, of_class, count);
    cuda::check_launch("gather_kernel");
  };
  if (const std::uint64_t count = sizes.count[3]; count > 0) {  // the longest first
    state.over(count, [=] __device__(std::uint64_t i, cuda::CudaLane&) { view.sums[members.at(3, i)] = 0; });
    const dim3 grid(static_cast<unsigned>(std::min<std::uint64_t>(count, kListBlocks)), kSlices);
    gather_long_kernel<<<grid, kListBlock, 0, stream>>>(view, members, 3, count);
    cuda::check_launch("gather_long_kernel");
  }
  launch(2, 32, gather_kernel<Share, 32>);
  launch(1, 8, gather_kernel<Share, 8>);
  launch(0, 1, gather_kernel<Share, 1>);
}

/// Renews all members; those that stay go to the next list.
template <class Share>
void settle_members(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view) {
  const cudaStream_t stream = state.executor.queue().get();
  const std::uint64_t count = state.affected();
  const VertexList members = state.members(state.now());
  const SettledLists lists{state.members(state.next()), state.sources()};
  Settled* const settled = &state.counters()->settled;
  const unsigned grid = count <= kOneBlock ? 1 : list_grid(count);
  settle_kernel<<<grid, kListBlock, 0, stream>>>(view, members, state.sizes, count, lists,
                                                 grid == 1 ? settled : state.partial());
  cuda::check_launch("settle_kernel");
  if (grid == 1) return;
  fold_settled_kernel<<<1, kListBlock, 0, stream>>>(state.partial(), grid, view.norm, settled);
  cuda::check_launch("fold_settled_kernel");
}

/// Out-neighbours of the sources, of which there are at most `most`, become members of `next`.
template <class Share>
void expand_sources(const RankState<Share, cuda::CudaExecutor>& state, std::uint64_t most,
                    const std::uint64_t* pushed, const VertexList& next) {
  if (most == 0) return;
  const DynamicView<Share> view = state.view();
  const VertexList sources = state.sources();
  const cudaStream_t stream = state.executor.queue().get();
  const auto launch = [&](unsigned of_class, unsigned lanes, auto kernel) {
    kernel<<<list_grid(most, lanes), kListBlock, 0, stream>>>(view, sources, of_class, pushed, next);
    cuda::check_launch("expand_kernel");
  };
  // A launch costs as much as a small frontier: none for classes that no source is of.
  const unsigned last = view.split == RankSplit::in_out ? list_class(view.longest_out) : 0;
  if (last == 3) {
    const std::uint64_t long_rows = std::min(most, view.out.edges / kWarpEdges);
    const dim3 grid(static_cast<unsigned>(std::min<std::uint64_t>(long_rows, kListBlocks / kSlices)),
                    kSlices);
    expand_long_kernel<<<grid, kListBlock, 0, stream>>>(view, sources, pushed, next);
    cuda::check_launch("expand_long_kernel");
  }
  if (last >= 2) launch(2, 32, expand_kernel<Share, 32>);
  if (last >= 1) launch(1, 8, expand_kernel<Share, 8>);
  launch(0, 1, expand_kernel<Share, 1>);
}

}  // namespace sluice::pagerank
