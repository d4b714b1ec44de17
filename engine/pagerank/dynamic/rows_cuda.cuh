// The kernels of an iteration over affected vertices: gather, settle, expand (rank_view.hpp). The lanes of a
// vertex's class find its sum (class_rows.cuh), and one thread its rank. Vertices that changed enough are
// appended to a list by out-degree; the lanes of a class flag their out-neighbours and append them to the
// next list. Threads add only integers together, so that only the order of lists depends on timing.
//
// They are launched here, and not by CudaExecutor, which has no lists by degree: `--split` measures these
// against their absence (DF-P's division of work), and several iterations share a launch (rounds.cuh).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "engine/exec/algorithms/places.cuh"
#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/pagerank/class_rows.cuh"
#include "engine/pagerank/dynamic/rank_state.hpp"
#include "engine/pagerank/dynamic/settle.hpp"

namespace sluice::pagerank {

inline constexpr unsigned kListBlocks = kMaxParts;   ///< blocks loop over more entries
inline constexpr unsigned kSlices = 32;              ///< of a long row, a block each
/// Up to so many vertices, one block settles faster than several whose totals a second kernel joins.
inline constexpr unsigned kOneBlock = 4 * kRowBlock;

/// Part `index` of `count` interleaved parts.
struct BlockPart {
  unsigned index, count;
};

/// Which long rows a block takes, and which slice of each.
struct LongRowParts {
  BlockPart row, slice;

  /// All blocks take each row together.
  __device__ static LongRowParts one_group() { return {{0, 1}, {blockIdx.x, gridDim.x}}; }
  /// Groups of at most kSlices blocks take rows in turn. The grid is one group, or several whole groups.
  __device__ static LongRowParts in_groups() {
    const unsigned slices = min(kSlices, gridDim.x);
    return {{blockIdx.x / slices, gridDim.x / slices}, {blockIdx.x % slices, slices}};
  }
};

/// The rows of members, to find the sums that are not known.
template <class Share>
struct GatheredRows {
  static constexpr unsigned kMaxLongRows = kListBlocks;  ///< rows that are cut at the same time

  DynamicView<Share> view;
  VertexList members;
  ListSizes sizes;

  __device__ bool begin() const { return true; }
  __device__ std::uint64_t count(unsigned c) const { return sizes.count[c]; }
  /// Clears the sum of a long row, before rows are cut.
  __device__ void clear_long(std::uint64_t i) const {
    if (const Vertex v = members.at(3, i); !view.sum_known[v]) view.sums[v] = 0;
  }
  /// Row i of a class, if it is `valid`, by one of `groups` groups, whose sums are added up.
  template <class Group>
  __device__ void visit(unsigned c, std::uint64_t i, bool valid, const Group& lanes, unsigned group,
                        unsigned groups) const {
    const Vertex v = valid ? members.at(c, i) : 0;
    const bool gathers = valid && !view.sum_known[v] && view.handles(v);
    const std::uint64_t first = group * Group::kSize + lanes.rank();
    const FixedRank sum =
        cuda::warp_sum<Group::kSize>(gathers ? view.vertices.gather(v, first, groups * Group::kSize) : 0);
    if (!gathers || lanes.rank() != 0) return;
    if (groups == 1) {
      view.sums[v] = sum;
    } else {
      fetch_add(&view.sums[v], sum);
    }
  }
};

/// The rows of sources, whose out-neighbours become members and are appended to `next`.
template <class Share>
struct ExpandedRows {
  static constexpr unsigned kMaxLongRows = kListBlocks / kSlices;

  DynamicView<Share> view;
  VertexList sources, next;
  const std::uint64_t* pushed;
  Spread spread;

  /// Returns false if there is nothing to do.
  __device__ bool begin() {
    spread = spread_of(view, pushed);
    return spread != Spread::nothing;
  }
  __device__ std::uint64_t count(unsigned c) const { return sources.sizes[c]; }
  template <class Group>
  __device__ void visit(unsigned c, std::uint64_t i, bool valid, const Group& lanes, unsigned group,
                        unsigned groups) const {
    if (!valid) return;
    const Vertex v = sources.at(c, i);
    cuda::CudaLane lane(LaneOutput{});
    expand_source(view, view.out, v, view.out.offsets[v] + group * Group::kSize + lanes.rank(),
                  view.out.offsets[v + 1], groups * Group::kSize, spread, next, lane);
  }
};

/// Visits the rows of the class of `Lanes` lanes, by all blocks.
template <unsigned Lanes, class Rows>
__device__ void visit_class_rows(const Rows& rows) {
  constexpr unsigned kClass = Lanes == 1 ? 0 : Lanes == kTileLanes ? 1 : 2;
  const std::uint64_t count = rows.count(kClass);
  for_each_row<Lanes>(
      count, [&](std::uint64_t i, const auto& lanes) { rows.visit(kClass, i, i < count, lanes, 0, 1); });
}

/// Visits long rows, whose sums begin at 0. `parts` says which rows a block takes, and which slice of each.
template <class Rows>
__device__ void visit_long_rows(const Rows& rows, const LongRowParts& parts) {
  const auto [row, slice] = parts;
  constexpr unsigned kWarps = kRowBlock / kWarpLanes;
  const std::uint64_t count = rows.count(3);
  for (std::uint64_t i = row.index; i < count; i += row.count)
    rows.visit(3, i, true, Tile<kWarpLanes>{}, slice.index * kWarps + threadIdx.x / kWarpLanes,
               slice.count * kWarps);
}

/// Visits all rows, the longest first.
template <class Rows>
__device__ void visit_all_rows(const Rows& rows, const LongRowParts& parts) {
  visit_long_rows(rows, parts);
  visit_class_rows<kWarpLanes>(rows);
  visit_class_rows<kTileLanes>(rows);
  visit_class_rows<1>(rows);
}

// ---- kernels

/// Rows of one class, `Lanes` lanes a row.
template <unsigned Lanes, class Rows>
__global__ void __launch_bounds__(kRowBlock, cuda::kMaxResidentThreads / kRowBlock) rows_kernel(Rows rows) {
  if (rows.begin()) visit_class_rows<Lanes>(rows);
}

/// Long rows: blockIdx.x selects rows, blockIdx.y a slice of each.
template <class Rows>
__global__ void __launch_bounds__(kRowBlock) cut_rows_kernel(Rows rows) {
  if (rows.begin()) visit_long_rows(rows, {{blockIdx.x, gridDim.x}, {blockIdx.y, gridDim.y}});
}

/// Members from their list, if they are few.
struct ListedMembers {
  VertexList list;
  ListSizes sizes;

  __device__ std::uint64_t size() const { return total_size(sizes); }
  __device__ Vertex operator()(std::uint64_t i) const { return list.at(sizes, i); }
};

/// Members from their flags, if they are many: adjacent state is read together.
struct FlaggedMembers {
  const std::uint8_t* flags;
  std::uint64_t first, own_rows;

  __device__ std::uint64_t size() const { return own_rows; }
  /// kNoVertex if vertex i is no member.
  __device__ Vertex operator()(std::uint64_t i) const {
    return (flags[i] & kMember) != 0 ? static_cast<Vertex>(first + i) : kNoVertex;
  }
};

/// Appends all members, which member(i) returns, to lists, by all blocks. keys_of(v, keys) sets keys[k], for
/// each list k that v goes to, to its number plus v's class. A block reserves places for some members a
/// thread at a time. (Places reserved warp by warp were most of the 0.76 ms in which Kronecker 24 settled on
/// an H200.)
template <unsigned kListCount, class Members, class KeysOf>
__device__ void append_members(std::uint64_t size, const Members& member,
                               const VertexList (&lists)[kListCount], const KeysOf& keys_of) {
  constexpr unsigned kPerThread = 4, kKeys = kRankLists * kListClasses;
  __shared__ unsigned long long shared[(cuda::position_scratch_bytes(kKeys) + 7) / 8];
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kRowBlock;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kRowBlock; base < size; base += kPerThread * stride) {
    Vertex entries[kPerThread];
    std::uint32_t keys[kPerThread * kListCount];
    unsigned long long positions[kPerThread * kListCount];
#pragma unroll
    for (unsigned e = 0; e < kPerThread; ++e) {
      const std::uint64_t i = base + e * stride + threadIdx.x;
      entries[e] = i < size ? member(i) : kNoVertex;
      for (unsigned to = 0; to < kListCount; ++to) keys[e * kListCount + to] = kKeys;
      if (entries[e] != kNoVertex) keys_of(entries[e], keys + e * kListCount);
    }
    cuda::claim_block_positions(lists[0].sizes - lists[0].number, keys, kKeys, shared, positions);
#pragma unroll
    for (unsigned k = 0; k < kPerThread * kListCount; ++k)
      if (keys[k] < kKeys)
        lists[k % kListCount].at(keys[k] % kListClasses, positions[k]) = entries[k / kListCount];
  }
}

/// Updates members whose sums are known: those that this rank handles, or, if `others`, all others. Appends
/// members that stay to `next`, and those whose change spreads to `sources`.
template <class Share, class Members>
__global__ void __launch_bounds__(kRowBlock)
    settle_kernel(DynamicView<Share> view, Members members, bool others, VertexList next, VertexList sources,
                  IterationTotals* partial) {
  cuda::CudaLane lane(LaneOutput{});
  IterationTotals done;
  append_members<2>(members.size(), members, {next, sources}, [&](Vertex v, std::uint32_t* keys) {
    if (view.handles(v) == others) return;
    const Outcome outcome = settle_member(view, v, done, lane);
    if (outcome.stays) keys[0] = next.number + view.class_of(v);
    if (outcome.spreads) keys[1] = sources.number + view.class_of_source(v);
  });
  join_totals(done, view.norm);
  if (threadIdx.x == 0) partial[blockIdx.x] = done;
}

/// Appends all members to `to`, about in order of id.
template <class Share>
__global__ void __launch_bounds__(kRowBlock)
    list_members_kernel(DynamicView<Share> view, FlaggedMembers members, VertexList to) {
  append_members<1>(members.size(), members, {to},
                    [&](Vertex v, std::uint32_t* keys) { keys[0] = to.number + view.class_of(v); });
}

/// Appends all vertices to `to`, which is empty, about in order of id. No sum counts as known.
template <class Share>
__device__ void list_all_rows(const DynamicView<Share>& view, const VertexList& to) {
  const auto vertex = [](std::uint64_t i) { return static_cast<Vertex>(i); };
  append_members<1>(view.vertices.in.vertices, vertex, {to}, [&](Vertex v, std::uint32_t* keys) {
    keys[0] = to.number + (view.split == RankSplit::none ? 0 : list_class(view.vertices.in_degree(v)));
  });
}

// ---- launchers

/// Blocks for `count` entries of `lanes` lanes each, at least one.
inline unsigned list_grid(std::uint64_t count, unsigned lanes = 1) {
  const std::uint64_t blocks = (count * lanes + kRowBlock - 1) / kRowBlock;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kListBlocks));
}

/// Launches the kernels for the rows of each class, at most `max_sizes` of them; the longest first.
template <class Share, class Rows>
void launch_rows(const RankState<Share, cuda::CudaExecutor>& state, const Rows& rows,
                 const ListSizes& max_sizes) {
  const auto launch = [&](std::uint64_t count, dim3 grid, auto kernel) {
    if (count == 0) return;
    kernel<<<grid, kRowBlock, 0, state.executor.cuda_stream().get()>>>(rows);
    cuda::check_launch("rows_kernel");
    ++state.launches;
  };
  const auto [singles, tiles, warps, long_rows] = max_sizes.count;
  launch(long_rows,
         dim3(static_cast<unsigned>(std::min<std::uint64_t>(long_rows, Rows::kMaxLongRows)), kSlices),
         cut_rows_kernel<Rows>);
  launch(warps, list_grid(warps, kWarpLanes), rows_kernel<kWarpLanes, Rows>);
  launch(tiles, list_grid(tiles, kTileLanes), rows_kernel<kTileLanes, Rows>);
  launch(singles, list_grid(singles), rows_kernel<1, Rows>);
}

/// Finds the sums of members that are not known, and whose lists are present.
template <class Share>
void gather_members(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view,
                    const VertexList& members, const ListSizes& sizes) {
  const GatheredRows<Share> rows{view, members, sizes};
  if (const std::uint64_t count = sizes.count[3]; count > 0)
    state.for_each(count, [=] __device__(std::uint64_t i, cuda::CudaLane&) { rows.clear_long(i); });
  launch_rows(state, rows, sizes);
}

/// All members of a state.
template <class Share>
FlaggedMembers flagged_members(const RankState<Share, cuda::CudaExecutor>& state) {
  return {state.view().flags, state.first, state.own_rows};
}

/// Updates members that this rank handles, or, if `others`, all others; those that stay go to the next list.
template <class Share>
void settle_part(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view,
                 bool others, cudaStream_t stream) {
  const std::uint64_t count = state.affected();
  // Fewer members are listed about in order; a scan of all flags would cost more than it saves.
  const bool many = count > state.own_rows / 2, one_block = count <= kOneBlock && !others;
  const unsigned grid = one_block ? 1 : list_grid(many ? state.own_rows : count);
  IterationTotals *const totals = &state.counters()->totals, *const parts =
                                                                 one_block ? totals : state.partial();
  const auto launch = [&](const auto& members) {
    settle_kernel<<<grid, kRowBlock, 0, stream>>>(view, members, others, state.members(state.next()),
                                                  state.sources(), parts);
    cuda::check_launch("settle_kernel");
    ++state.launches;
  };
  many ? launch(flagged_members(state)) : launch(ListedMembers{state.members(state.current()), state.sizes});
  if (one_block) return;
  fold_totals(parts, grid, view.norm, others, totals, stream);
  ++state.launches;
}
template <class Share>
void settle_members(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view) {
  settle_part(state, view, false, state.executor.cuda_stream().get());  // this rank handles all members
}

/// Appends all members to `to`, which is empty, about in order of id.
template <class Share>
void list_members(const RankState<Share, cuda::CudaExecutor>& state, const VertexList& to) {
  list_members_kernel<<<list_grid(state.own_rows), kRowBlock, 0, state.executor.cuda_stream().get()>>>(
      state.view(), flagged_members(state), to);
  cuda::check_launch("list_members_kernel");
  ++state.launches;
}

/// Makes out-neighbours of the sources, at most `max_sources` of these, members, and appends them to `next`.
template <class Share>
void expand_sources(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view,
                    std::uint64_t max_sources, const std::uint64_t* pushed, const VertexList& next) {
  // A launch costs as much as a small frontier, so classes that no source can have get none.
  const unsigned last = view.split == RankSplit::in_out ? list_class(view.max_out_degree) : 0;
  ListSizes sizes{{max_sources}};
  for (unsigned c = 1; c <= last; ++c) sizes.count[c] = max_sources;
  sizes.count[3] = std::min<std::uint64_t>(sizes.count[3], view.out.edges / kLongDegree);
  launch_rows(state, ExpandedRows<Share>{view, state.sources(), next, pushed, {}}, sizes);
}

}  // namespace sluice::pagerank
