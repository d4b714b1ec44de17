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

#include "engine/exec/algorithms/places.cuh"
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
    const bool gathers = i < count && !view.known[v] && view.works_on(v);
    FixedRank sum = gathers ? view.at.gather(v, lane, Lanes) : 0;
    if constexpr (Lanes > 1) sum = sum_lanes<Lanes>(sum);
    if (gathers && lane == 0) view.sums[v] = sum;
  }
}

/// The same of all members but those with long rows.
template <class Share>
__device__ void gather_short_rows(const DynamicView<Share>& view, const VertexList& members,
                                  const ListSizes& sizes) {
  gather_rows<Share, 32>(view, members, 2, sizes.count[2]);
  gather_rows<Share, 8>(view, members, 1, sizes.count[1]);
  gather_rows<Share, 1>(view, members, 0, sizes.count[0]);
}

template <class Share, unsigned Lanes>
__global__ void __launch_bounds__(kListBlock)
    gather_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t count) {
  gather_rows<Share, Lanes>(view, members, of_class, count);
}

/// A part of the blocks, by turns: part `at` of `of`.
struct BlockPart {
  unsigned at, of;
};

/// Long rows by turns to groups of at most kSlices blocks, which cut them. The grid is one group, or whole
/// ones.
struct LongRowParts {
  BlockPart row, slice;

  __device__ LongRowParts() {
    const unsigned slices = min(kSlices, gridDim.x);
    row = {blockIdx.x / slices, gridDim.x / slices};
    slice = {blockIdx.x % slices, slices};
  }
};

/// Long rows, whose sums begin at 0: every one cut among the blocks of `slice`, the rows dealt out as `row`
/// says.
template <class Share>
__device__ void gather_cut_rows(const DynamicView<Share>& view, const VertexList& members,
                                std::uint64_t count, BlockPart row, BlockPart slice) {
  for (std::uint64_t i = row.at; i < count; i += row.of) {
    const Vertex v = members.at(3, i);
    if (!view.works_on(v)) continue;
    const FixedRank sum = sum_lanes<32>(
        view.at.gather(v, slice.at * kListBlock + threadIdx.x, std::uint64_t{slice.of} * kListBlock));
    if (threadIdx.x % 32 == 0) fetch_add(&view.sums[v], sum);
  }
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    gather_long_kernel(DynamicView<Share> view, VertexList members, std::uint64_t count) {
  gather_cut_rows(view, members, count, {blockIdx.x, gridDim.x}, {blockIdx.y, gridDim.y});
}

/// Few members, as they are listed.
struct ListedMembers {
  VertexList list;
  ListSizes sizes;

  __device__ std::uint64_t places() const { return all_of(sizes); }
  __device__ Vertex operator()(std::uint64_t i) const { return list.at(sizes, i); }
};

/// Many members, as they are flagged: state of those side by side is read together.
struct FlaggedMembers {
  const std::uint8_t* flags;
  std::uint64_t first, own;

  __device__ std::uint64_t places() const { return own; }
  /// kNoVertex: none.
  __device__ Vertex operator()(std::uint64_t i) const {
    return (flags[i] & kMember) != 0 ? static_cast<Vertex>(first + i) : kNoVertex;
  }
};

/// All vertices, in order of id.
struct EachVertex {
  std::uint64_t vertices;

  __device__ std::uint64_t places() const { return vertices; }
  __device__ Vertex operator()(std::uint64_t i) const { return static_cast<Vertex>(i); }
};

/// Appends all members to lists, by all blocks: keys_of(v, keys) gives the class of v on each that it
/// goes to, beside the number of that list. A block takes places for some members a thread at a time. (Those
/// that warps took were most of the 0.76 ms in which Kronecker 24 settled on an H200.)
template <unsigned kTo, class Members, class KeysOf>
__device__ void append_members(const Members& members, const VertexList (&lists)[kTo],
                               const KeysOf& keys_of) {
  constexpr unsigned kAtOnce = 4, kKeys = kRankLists * kListClasses;
  __shared__ unsigned long long shared[(cuda::place_bytes(kKeys) + 7) / 8];
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kListBlock;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kListBlock; base < members.places();
       base += kAtOnce * stride) {
    Vertex entries[kAtOnce];
    std::uint32_t keys[kAtOnce * kTo];
    unsigned long long places[kAtOnce * kTo];
#pragma unroll
    for (unsigned e = 0; e < kAtOnce; ++e) {
      const std::uint64_t i = base + e * stride + threadIdx.x;
      entries[e] = i < members.places() ? members(i) : kNoVertex;
      for (unsigned to = 0; to < kTo; ++to) keys[e * kTo + to] = kKeys;
      if (entries[e] != kNoVertex) keys_of(entries[e], keys + e * kTo);
    }
    cuda::places_behind(lists[0].sizes - lists[0].number, keys, kKeys, shared, places);
#pragma unroll
    for (unsigned k = 0; k < kAtOnce * kTo; ++k)
      if (keys[k] < kKeys) lists[k % kTo].at(keys[k] % kListClasses, places[k]) = entries[k / kTo];
  }
}

/// The next ranks of all members, whose sums are known. Those that stay go to `next`, those whose change
/// spreads to `sources`.
template <class Share, class Members>
__global__ void __launch_bounds__(kListBlock)
    settle_kernel(DynamicView<Share> view, Members members, VertexList next, VertexList sources,
                  Settled* partial) {
  cuda::CudaLane lane(LaneOutput{});
  Settled done;
  append_members<2>(members, {next, sources}, [&](Vertex v, std::uint32_t* keys) {
    const Outcome is = settle_member(view, v, done, lane);
    if (is.stays) keys[0] = next.number + view.class_of(v);
    if (is.spreads) keys[1] = sources.number + view.class_of_source(v);
  });
  join_block<kListBlock>(done, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = done;
}

/// Puts all members on `to`, about in order of id.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    list_members_kernel(DynamicView<Share> view, FlaggedMembers members, VertexList to) {
  append_members<1>(members, {to},
                    [&](Vertex v, std::uint32_t* keys) { keys[0] = to.number + view.class_of(v); });
}

/// Puts all vertices on `to`, which is empty, about in order of id. No sum counts as known.
template <class Share>
__device__ void list_all_rows(const DynamicView<Share>& view, const VertexList& to) {
  append_members<1>(EachVertex{view.at.in.vertices}, {to}, [&](Vertex v, std::uint32_t* keys) {
    keys[0] = to.number + (view.split == RankSplit::none ? 0 : list_class(view.at.in_degree(v)));
  });
}

/// One block adds up `count` parts.
inline __global__ void __launch_bounds__(kListBlock)
    fold_settled_kernel(const Settled* partial, unsigned count, RankNorm norm, Settled* settled) {
  const Settled sum = fold_parts<kListBlock>(partial, count, norm);
  if (threadIdx.x == 0) *settled = sum;
}

/// Out-neighbours of the sources of one class become members, `Lanes` lanes a source, by all blocks.
template <class Share, unsigned Lanes>
__device__ void expand_rows(const DynamicView<Share>& view, const VertexList& sources, unsigned of_class,
                            Spread spread, const VertexList& next) {
  const std::uint64_t count = sources.sizes[of_class];
  constexpr unsigned kRows = kListBlock / Lanes;
  cuda::CudaLane lane(LaneOutput{});
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kRows + threadIdx.x / Lanes; i < count;
       i += std::uint64_t{gridDim.x} * kRows) {
    const Vertex source = sources.at(of_class, i);
    const Difference<Share> difference(view, source, spread);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + threadIdx.x % Lanes; e < end; e += Lanes)
      expand_edge(view, view.out, e, spread, difference, next, lane);
  }
}

/// The same for long rows: every one cut among the blocks of `slice`, the rows dealt out as `row` says.
template <class Share>
__device__ void expand_long_rows(const DynamicView<Share>& view, const VertexList& sources, Spread spread,
                                 const VertexList& next, BlockPart row, BlockPart slice) {
  const std::uint64_t count = sources.sizes[3], stride = std::uint64_t{slice.of} * kListBlock;
  cuda::CudaLane lane(LaneOutput{});
  for (std::uint64_t i = row.at; i < count; i += row.of) {
    const Vertex source = sources.at(3, i);
    const Difference<Share> difference(view, source, spread);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + slice.at * kListBlock + threadIdx.x; e < end; e += stride)
      expand_edge(view, view.out, e, spread, difference, next, lane);
  }
}

/// The same for all sources, the longest first; long rows as expand_long_rows() has them.
template <class Share>
__device__ void expand_all_rows(const DynamicView<Share>& view, const VertexList& sources, Spread spread,
                                const VertexList& next, BlockPart row, BlockPart slice) {
  expand_long_rows(view, sources, spread, next, row, slice);
  expand_rows<Share, 32>(view, sources, 2, spread, next);
  expand_rows<Share, 8>(view, sources, 1, spread, next);
  expand_rows<Share, 1>(view, sources, 0, spread, next);
}

template <class Share, unsigned Lanes>
__global__ void __launch_bounds__(kListBlock)
    expand_kernel(DynamicView<Share> view, VertexList sources, unsigned of_class, const std::uint64_t* pushed,
                  VertexList next) {
  const Spread spread = spread_of(view, pushed);
  if (spread != Spread::nothing) expand_rows<Share, Lanes>(view, sources, of_class, spread, next);
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    expand_long_kernel(DynamicView<Share> view, VertexList sources, const std::uint64_t* pushed,
                       VertexList next) {
  const Spread spread = spread_of(view, pushed);
  if (spread != Spread::nothing)
    expand_long_rows(view, sources, spread, next, {blockIdx.x, gridDim.x}, {blockIdx.y, gridDim.y});
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
    ++state.launches;
  };
  if (const std::uint64_t count = sizes.count[3]; count > 0) {  // the longest first
    state.over(count, [=] __device__(std::uint64_t i, cuda::CudaLane&) { view.sums[members.at(3, i)] = 0; });
    const dim3 grid(static_cast<unsigned>(std::min<std::uint64_t>(count, kListBlocks)), kSlices);
    gather_long_kernel<<<grid, kListBlock, 0, stream>>>(view, members, count);
    cuda::check_launch("gather_long_kernel");
    ++state.launches;
  }
  launch(2, 32, gather_kernel<Share, 32>);
  launch(1, 8, gather_kernel<Share, 8>);
  launch(0, 1, gather_kernel<Share, 1>);
}

/// All members of a state.
template <class Share>
FlaggedMembers flagged_members(const RankState<Share, cuda::CudaExecutor>& state) {
  return {state.view().flags, state.first, state.own};
}

/// Renews all members; those that stay go to the next list.
template <class Share>
void settle_members(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view) {
  const cudaStream_t stream = state.executor.queue().get();
  const std::uint64_t count = state.affected();
  // Fewer are listed about in order, and to look at all flags costs more than that gains.
  const bool many = count > state.own / 2;
  const unsigned grid = count <= kOneBlock ? 1 : list_grid(many ? state.own : count);
  Settled *const settled = &state.counters()->settled, *const parts = grid == 1 ? settled : state.partial();
  const auto launch = [&](const auto& members) {
    settle_kernel<<<grid, kListBlock, 0, stream>>>(view, members, state.members(state.next()),
                                                   state.sources(), parts);
    cuda::check_launch("settle_kernel");
    ++state.launches;
  };
  many ? launch(flagged_members(state)) : launch(ListedMembers{state.members(state.now()), state.sizes});
  if (grid == 1) return;
  fold_settled_kernel<<<1, kListBlock, 0, stream>>>(parts, grid, view.norm, settled);
  cuda::check_launch("fold_settled_kernel");
  ++state.launches;
}

/// Puts all members on `to`, which is empty, about in order of id.
template <class Share>
void list_members(const RankState<Share, cuda::CudaExecutor>& state, const VertexList& to) {
  list_members_kernel<<<list_grid(state.own), kListBlock, 0, state.executor.queue().get()>>>(
      state.view(), flagged_members(state), to);
  cuda::check_launch("list_members_kernel");
  ++state.launches;
}

/// Out-neighbours of the sources, of which there are at most `most`, become members of `next`.
template <class Share>
void expand_sources(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view,
                    std::uint64_t most, const std::uint64_t* pushed, const VertexList& next) {
  if (most == 0) return;
  const VertexList sources = state.sources();
  const cudaStream_t stream = state.executor.queue().get();
  const auto launch = [&](unsigned of_class, unsigned lanes, auto kernel) {
    kernel<<<list_grid(most, lanes), kListBlock, 0, stream>>>(view, sources, of_class, pushed, next);
    cuda::check_launch("expand_kernel");
    ++state.launches;
  };
  // A launch costs as much as a small frontier: none for classes that no source is of.
  const unsigned last = view.split == RankSplit::in_out ? list_class(view.longest_out) : 0;
  if (last == 3) {
    const std::uint64_t long_rows = std::min(most, view.out.edges / kWarpEdges);
    const dim3 grid(static_cast<unsigned>(std::min<std::uint64_t>(long_rows, kListBlocks / kSlices)),
                    kSlices);
    expand_long_kernel<<<grid, kListBlock, 0, stream>>>(view, sources, pushed, next);
    cuda::check_launch("expand_long_kernel");
    ++state.launches;
  }
  if (last >= 2) launch(2, 32, expand_kernel<Share, 32>);
  if (last >= 1) launch(1, 8, expand_kernel<Share, 8>);
  launch(0, 1, expand_kernel<Share, 1>);
}

}  // namespace sluice::pagerank
