// The kernels of an iteration over affected vertices: gather, settle, expand. A vertex's sum is found by the
// lanes of its class, its rank by one thread; what changed enough is appended to a list by out-degree, whose
// out-neighbours a second family of kernels flags and appends to the next list. Only integers are added by
// several threads, so nothing depends on who comes first but the order of the lists.
//
// They are launched here, not by CudaExecutor, which has neither lists by degree nor a sum of Settled.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/dynamic/lists.cuh"
#include "engine/pagerank/dynamic/settle.hpp"
#include "engine/pagerank/static/join_block.cuh"

namespace sluice::pagerank {

inline constexpr unsigned kListBlock = 256;    ///< eight warps: enough to hide gathers
inline constexpr unsigned kListBlocks = 2048;  ///< beyond them blocks take further entries
inline constexpr unsigned kSlices = 32;        ///< of a long row, for as many blocks
/// So many vertices are settled by one block sooner than by several whose totals a second kernel adds up.
inline constexpr unsigned kOneBlock = 4 * kListBlock;

enum AffectedFlag : std::uint8_t { kMember = 1, kEver = 2, kExpanded = 4 };

/// The vertices whose lists are there.
struct ListedRows {
  std::uint64_t begin = 0, end = ~std::uint64_t{0};

  __device__ bool hold(Vertex v) const { return v >= begin && v < end; }
};

/// All that an iteration works on, in memory of the device. Arrays of a rank's own vertices are indexed by
/// the ids of the graph, but for the flags.
template <class Share>
struct DynamicView : SettleRules {
  RankVertices<Share> at;
  CsrView out;                    ///< none where the host has it; weights only where ranks are split by them
  std::uint64_t longest_out = 0;  ///< edges of its longest list
  typename Share::Stored* sent = nullptr;  ///< what vertices that push a change had sent before
  FixedRank* sums = nullptr;
  /// Where lists come and go: new ranks of the vertices that have a loop in theirs.
  const FixedRank* renewed = nullptr;
  VertexList changed;  ///< vertices that offer something else, where other ranks are to receive it
  std::uint8_t* flags = nullptr;
  std::uint64_t first = 0;             ///< the vertex whose flags come first
  std::uint8_t* known = nullptr;       ///< 1 where differences keep the sum up to date; on residuals only
  unsigned long long* ever = nullptr;  ///< how many vertices were ever affected
  RankUpdate update;
  RankSplit split = RankSplit::in_out;

  /// 0 where the host has the out-edges: it looks at all sources then, of whatever class.
  __device__ std::uint64_t out_degree(Vertex v) const {
    return out.offsets == nullptr ? 0 : out.offsets[v + 1] - out.offsets[v];
  }
  __device__ std::uint8_t& flags_of(Vertex v) const { return flags[v - first]; }
  /// By what it takes to find the sum.
  __device__ unsigned class_of(Vertex v) const {
    return known[v] || split == RankSplit::none ? 0 : list_class(at.in_degree(v));
  }
  /// By what it takes to go along its out-edges.
  __device__ unsigned class_of_source(Vertex v) const {
    return split == RankSplit::in_out ? list_class(out_degree(v)) : 0;
  }

  /// Makes v a member; `pulls`: its sum is not known any more.
  __device__ void meet(Vertex v, bool pulls, const VertexList& members) const {
    if (flags_of(v) & kMember) return;
    const std::uint64_t place = v - first;
    const unsigned shift = place % 4 * 8;
    const unsigned before =
        atomicOr(reinterpret_cast<unsigned*>(flags) + place / 4, unsigned{kMember | kEver} << shift) >> shift;
    if (before & kMember) return;
    if (!(before & kEver)) atomicAdd(ever, 1ull);
    if (pulls) known[v] = 0;
    members.append(v, class_of(v));
  }
};

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
                            std::uint64_t count, const ListedRows& rows) {
  constexpr unsigned kRows = kListBlock / Lanes;  // a block's
  const unsigned lane = threadIdx.x % Lanes;
  // All lanes of a warp go round equally often, for they add up together.
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kRows; base < count;
       base += std::uint64_t{gridDim.x} * kRows) {
    const std::uint64_t i = base + threadIdx.x / Lanes;
    const Vertex v = i < count ? members.at(of_class, i) : 0;
    const bool gathers = i < count && rows.hold(v) && !view.known[v];
    FixedRank sum = gathers ? view.at.gather(v, lane, Lanes) : 0;
    if constexpr (Lanes > 1) sum = add_lanes<Lanes>(sum);
    if (gathers && lane == 0) view.sums[v] = sum;
  }
}

template <class Share, unsigned Lanes>
__global__ void __launch_bounds__(kListBlock)
    gather_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t count,
                  ListedRows rows) {
  gather_rows<Share, Lanes>(view, members, of_class, count, rows);
}

inline __global__ void __launch_bounds__(kListBlock)
    clear_sums_kernel(FixedRank* sums, VertexList members, unsigned of_class, std::uint64_t count,
                      ListedRows rows) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kListBlock + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * kListBlock) {
    const Vertex v = members.at(of_class, i);
    if (rows.hold(v)) sums[v] = 0;
  }
}

/// Long rows: gridDim.y blocks a vertex, whose sums begin at 0.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    gather_long_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t count,
                       ListedRows rows) {
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Vertex v = members.at(of_class, i);
    if (!rows.hold(v)) continue;
    const FixedRank sum = add_lanes<32>(
        view.at.gather(v, blockIdx.y * kListBlock + threadIdx.x, std::uint64_t{gridDim.y} * kListBlock));
    if (threadIdx.x % 32 == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(view.sums + v), static_cast<unsigned long long>(sum));
  }
}

/// One thread's (settle.hpp).
template <class Share>
struct SettleLane {
  using Stored = typename Share::Stored;

  const DynamicView<Share>& view;
  const VertexList& next;
  const VertexList& sources;

  __device__ bool pulled(Vertex v) {
    if (view.known[v]) return false;
    view.known[v] = 1;
    return true;
  }
  __device__ bool expands_first(Vertex v) {
    if (view.flags_of(v) & kExpanded) return false;
    view.flags_of(v) |= kExpanded;  // no other thread touches this byte now
    return true;
  }
  __device__ std::uint64_t out_degree(Vertex v) const { return view.out_degree(v); }
  __device__ bool reports() const { return view.changed.few != nullptr; }
  __device__ void stays(Vertex v) { next.append(v, view.class_of(v)); }
  __device__ void leaves(Vertex v) { view.flags_of(v) = kEver; }
  __device__ void spreads(Vertex v) { sources.append(v, view.class_of_source(v)); }
  __device__ void changed(Vertex v) { view.changed.append(v, 0); }
  __device__ void offers(Vertex v, Stored before, Stored after) {
    view.sent[v] = before;
    view.at.shares[v] = after;
  }
};

/// The next ranks of all members, whose sums are known, by all blocks; what the calling thread did.
template <class Share>
__device__ Settled settle_rows(const DynamicView<Share>& view, const VertexList& members,
                               const ListSizes& sizes, std::uint64_t count, const VertexList& next,
                               const VertexList& sources) {
  const bool closed = drops_members(view.method);
  SettleLane<Share> lane{view, next, sources};
  Settled done;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kListBlock + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * kListBlock) {
    const Vertex v = members.at(sizes, i);
    const FixedRank before = view.at.ranks[v];
    const bool has_loop = view.renewed != nullptr && closed && view.at.loops[v] == Loop::stored;
    const FixedRank after =
        has_loop ? view.renewed[v] : view.at.renewed(view.update, v, view.sums[v], closed);
    settle_member(view.at, view, v, before, after, done, lane);
  }
  return done;
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    settle_kernel(DynamicView<Share> view, VertexList members, ListSizes sizes, std::uint64_t count,
                  VertexList next, VertexList sources, Settled* partial) {
  Settled done = settle_rows(view, members, sizes, count, next, sources);
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

/// What a source pushes along its edges: how its contribution changed.
template <class Share>
struct Difference {
  typename Share::Stored before{}, after{};

  __device__ Difference(const DynamicView<Share>& view, Vertex source, bool pushes) {
    if (pushes) before = view.sent[source], after = view.at.shares[source];
  }
  /// Modulo 2^64: a smaller contribution takes away.
  __device__ FixedRank carried(float weight) const {
    return Share::carried(after, weight) - Share::carried(before, weight);
  }
};

/// Goes along one out-edge; `pushes`: with the difference.
template <class Share>
__device__ void expand_edge(const DynamicView<Share>& view, EdgeIndex edge, bool pushes,
                            const Difference<Share>& difference, const VertexList& next) {
  const Vertex v = view.out.targets[edge];
  if (pushes) {
    const float weight = Share::kWeighted ? view.out.weights[edge] : 1.0f;
    atomicAdd(reinterpret_cast<unsigned long long*>(view.sums + v),
              static_cast<unsigned long long>(difference.carried(weight)));
  }
  view.meet(v, !pushes, next);
}

/// What sources do to their out-neighbours: these become members, on residuals by what they receive, or
/// nothing, where all vertices are to pull. `pushed` null: nothing has settled yet.
enum class Spread { marks, pushes, nothing };

template <class Share>
__device__ Spread spread_of(const DynamicView<Share>& view, const std::uint64_t* pushed) {
  if (pushed == nullptr) return Spread::marks;
  if (all_are_next(view.method, *pushed, view.out.edges)) return Spread::nothing;
  return view.method == RankMethod::residual_frontier ? Spread::pushes : Spread::marks;
}

/// Out-neighbours of the sources of one class become members, `Lanes` lanes a source, by all blocks.
template <class Share, unsigned Lanes>
__device__ void expand_rows(const DynamicView<Share>& view, const VertexList& sources, unsigned of_class,
                            bool pushes, const VertexList& next) {
  const std::uint64_t count = sources.sizes[of_class];
  constexpr unsigned kRows = kListBlock / Lanes;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kRows + threadIdx.x / Lanes; i < count;
       i += std::uint64_t{gridDim.x} * kRows) {
    const Vertex source = sources.at(of_class, i);
    const Difference<Share> difference(view, source, pushes);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + threadIdx.x % Lanes; e < end; e += Lanes)
      expand_edge(view, e, pushes, difference, next);
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
  for (std::uint64_t i = row.at; i < count; i += row.of) {
    const Vertex source = sources.at(3, i);
    const Difference<Share> difference(view, source, pushes);
    const EdgeIndex end = view.out.offsets[source + 1];
    for (EdgeIndex e = view.out.offsets[source] + slice.at * kListBlock + threadIdx.x; e < end; e += stride)
      expand_edge(view, e, pushes, difference, next);
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
void gather_members(const DynamicView<Share>& view, const VertexList& members, const ListSizes& sizes,
                    const cuda::Stream& stream, const ListedRows& rows = {}) {
  const auto launch = [&](unsigned of_class, unsigned lanes, auto kernel) {
    const unsigned count = sizes.count[of_class];
    if (count == 0) return;
    kernel<<<list_grid(count, lanes), kListBlock, 0, stream.get()>>>(view, members, of_class, count, rows);
    cuda::check_launch("gather_kernel");
  };
  if (const unsigned count = sizes.count[3]; count > 0) {  // the longest first
    clear_sums_kernel<<<list_grid(count), kListBlock, 0, stream.get()>>>(view.sums, members, 3, count, rows);
    cuda::check_launch("clear_sums_kernel");
    const dim3 grid(std::min(count, kListBlocks), kSlices);
    gather_long_kernel<<<grid, kListBlock, 0, stream.get()>>>(view, members, 3, count, rows);
    cuda::check_launch("gather_long_kernel");
  }
  launch(2, 32, gather_kernel<Share, 32>);
  launch(1, 8, gather_kernel<Share, 8>);
  launch(0, 1, gather_kernel<Share, 1>);
}

/// Renews all members; `partial` holds kListBlocks.
template <class Share>
void settle_members(const DynamicView<Share>& view, const VertexList& members, const ListSizes& sizes,
                    const VertexList& next, const VertexList& sources, Settled* partial, Settled* settled,
                    const cuda::Stream& stream) {
  const std::uint64_t count = all_of(sizes);
  if (count <= kOneBlock) {
    settle_kernel<<<1, kListBlock, 0, stream.get()>>>(view, members, sizes, count, next, sources, settled);
    return cuda::check_launch("settle_kernel");
  }
  const unsigned grid = list_grid(count);
  settle_kernel<<<grid, kListBlock, 0, stream.get()>>>(view, members, sizes, count, next, sources, partial);
  cuda::check_launch("settle_kernel");
  fold_settled_kernel<<<1, kListBlock, 0, stream.get()>>>(partial, grid, view.norm, settled);
  cuda::check_launch("fold_settled_kernel");
}

/// Out-neighbours of `sources`, of which there are at most `most`, become members of `next`.
template <class Share>
void expand_sources(const DynamicView<Share>& view, const VertexList& sources, std::uint64_t most,
                    const std::uint64_t* pushed, const VertexList& next, const cuda::Stream& stream) {
  if (most == 0) return;
  const auto launch = [&](unsigned of_class, unsigned lanes, auto kernel) {
    kernel<<<list_grid(most, lanes), kListBlock, 0, stream.get()>>>(view, sources, of_class, pushed, next);
    cuda::check_launch("expand_kernel");
  };
  // A launch costs as much as a small frontier: none for classes that no source is of.
  const unsigned last = view.split == RankSplit::in_out ? list_class(view.longest_out) : 0;
  if (last == 3) {
    const std::uint64_t long_rows = std::min(most, view.out.edges / kWarpEdges);
    const dim3 grid(static_cast<unsigned>(std::min<std::uint64_t>(long_rows, kListBlocks / kSlices)),
                    kSlices);
    expand_long_kernel<<<grid, kListBlock, 0, stream.get()>>>(view, sources, pushed, next);
    cuda::check_launch("expand_long_kernel");
  }
  if (last >= 2) launch(2, 32, expand_kernel<Share, 32>);
  if (last >= 1) launch(1, 8, expand_kernel<Share, 8>);
  launch(0, 1, expand_kernel<Share, 1>);
}

}  // namespace sluice::pagerank
