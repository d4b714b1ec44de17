// Kernels of traversal-based samples: one depth of all instances of a batch.
#pragma once

#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/search.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/group.hpp"
#include "engine/samples/entry_list.hpp"
#include "engine/samples/level_view.cuh"
#include "engine/samples/step.hpp"

namespace sluice::samples::cuda {

using namespace sluice::cuda;  // groups and checks of a GPU
using sluice::cuda::Stream;    // not the enumeration of random streams

inline constexpr unsigned kSampleBlock = 256;

__device__ __forceinline__ std::uint64_t thread_index() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// How many edges one entry selects.
struct EntrySize {
  std::uint64_t size;
  bool whole;  ///< the entry takes all candidates; nothing is drawn
};

template <class Program>
__device__ __forceinline__ EntrySize size_of(const Program& program, const FrontierEntry& entry,
                                             std::uint32_t depth) {
  const Row row = program.graph.row(entry.vertex);
  const std::uint32_t available = program.candidates(entry.vertex, row);
  const auto at = program.expansion(entry, depth);
  const SampleDraws random = program.draws(entry);
  const std::uint64_t size = program.size(at, random, available);
  return {size, size > 0 && program.takes_all(size, at, random, available)};
}

/// With replacement: tests whether every entry draws as many edges as the first. If so, `summary->uneven`
/// stays 0 and `summary->largest` is the size of all.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    even_kernel(Program program, LevelView level, std::uint32_t depth, LevelSummary* summary) {
  const std::uint64_t entry_id = thread_index();
  if (entry_id >= level.entries) return;
  const EntrySize first = size_of(program, level.frontier[0], depth);
  const EntrySize own_size = entry_id == 0 ? first : size_of(program, level.frontier[entry_id], depth);
  if (entry_id == 0) summary->largest = first.size;
  if (own_size.size != first.size || own_size.whole) summary->uneven = 1;
}

/// Sets a field to at least `value`.
__device__ __forceinline__ void raise_max(unsigned long long* field, unsigned long long value) {
  if (value > *reinterpret_cast<volatile unsigned long long*>(field)) atomicMax(field, value);
}

/// Computes how many edges each entry selects, their maximum, and whether any entry takes its whole list.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    size_kernel(Program program, LevelView level, std::uint32_t depth, std::uint64_t* sizes,
                LevelSummary* summary) {
  const std::uint64_t entry_id = thread_index();
  EntrySize own_size{0, false};
  if (entry_id < level.entries) {
    own_size = size_of(program, level.frontier[entry_id], depth);
    sizes[entry_id] = own_size.size;
  }
  const auto capped = static_cast<unsigned>(own_size.size < 0xffffffffu ? own_size.size : 0xffffffffu);
  const unsigned largest = __reduce_max_sync(~0u, capped),
                 drawn = __reduce_max_sync(~0u, own_size.whole ? 0 : capped);
  const bool uneven = program.sampler.replacement() && __any_sync(~0u, own_size.whole);
  if (threadIdx.x % 32 == 0) {
    raise_max(&summary->largest, largest);
    raise_max(&summary->drawn, drawn);
    if (uneven) raise_max(&summary->uneven, 1);
  }
}

/// Dynamic bias: a warp per entry measures the list, for its candidates and how many edges the entry selects.
template <class Entries, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    measure_kernel(Program program, LevelView level, Entries entries, std::uint32_t depth,
                   std::uint64_t* sizes, LevelSummary* summary) {
  const Tile<32> warp;
  entries.each(thread_index() / 32, std::uint64_t{gridDim.x} * (kSampleBlock / 32), [&](std::uint64_t item) {
    if (item >= entries.size()) return;
    const std::uint64_t entry_id = entries[item];
    const FrontierEntry entry = level.frontier[entry_id];
    const Row row = program.graph.row(entry.vertex);
    const TracedExpansion at = program.expansion(entry, depth, level.parents[entry_id]);
    ListMeasure list{row.degree, true};
    if (!program.all_are_candidates) list = DynamicList<Program>(program, at, row).measure(warp, nullptr);
    if (warp.rank() != 0) return;
    if (!list.fits) raise_max(&summary->too_large, std::uint64_t{entry.vertex} + 1);
    const SampleDraws random = program.draws(entry);
    const std::uint64_t size = program.size(at, random, list.candidates);
    level.available[entry_id] = list.candidates;
    sizes[entry_id] = size;
    raise_max(&summary->largest, size);
    if (size > 0 && !program.takes_all(size, at, random, list.candidates)) {
      raise_max(&summary->drawn, size);
      raise_max(&summary->longest_list, row.degree);
    }
  });
}

/// Adds a warp's counters to `totals`; every active lane must call it.
__device__ __forceinline__ void count_picks(PickTotals* totals, unsigned selections,
                                            const PickCounters& counters) {
  const unsigned active = __activemask();
  const unsigned all_selections = __reduce_add_sync(active, selections);
  const unsigned iterations = __reduce_add_sync(active, counters.iterations);
  const unsigned searches = __reduce_add_sync(active, counters.searches);
  if (Tile<32>::warp_lane() == static_cast<unsigned>(__ffs(static_cast<int>(active)) - 1) && iterations > 0) {
    PickTotals& slot = totals[blockIdx.x % kCounterSlots];
    atomicAdd(&slot.selections, static_cast<unsigned long long>(all_selections));
    atomicAdd(&slot.iterations, static_cast<unsigned long long>(iterations));
    atomicAdd(&slot.searches, static_cast<unsigned long long>(searches));
  }
}

/// With replacement, at most `lanes` <= 32 draws per entry, no entry takes its whole list: a lane makes one
/// draw, and a warp serves 32 / `lanes` entries. `totals` is used for listed entries only.
template <class Entries, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    draw_kernel(Program program, LevelView level, Entries entries, std::uint32_t depth, std::uint32_t lanes,
                PickTotals* totals) {
  const std::uint32_t entries_a_warp = 32 / lanes, lane = threadIdx.x % 32;
  const std::uint32_t slot = lane / lanes, draw = lane - slot * lanes;
  const std::uint64_t step = std::uint64_t{gridDim.x} * (kSampleBlock / 32) * entries_a_warp;
  entries.each(thread_index() / 32 * entries_a_warp, step, [&](std::uint64_t first) {
    const bool active = slot < entries_a_warp && first + slot < entries.size();
    std::uint64_t entry_id = 0;
    FrontierEntry entry;
    Row row;
    std::uint32_t index = ~0u;  // sorts behind all drawn indices
    bool drawn = false;
    PickCounters counters;
    if (active) {
      entry_id = entries[first + slot];
      entry = level.frontier[entry_id];
      row = program.graph.row(entry.vertex);
      drawn = Entries::kListed ? draw < level.offsets[entry_id + 1] - level.offsets[entry_id]
                               : program.candidates(entry.vertex, row) > 0;
      if (drawn) index = program.draw_one(program.draws(entry), entry.vertex, row, draw, counters);
    }
    std::uint32_t rank = 0;  // an entry's edges are stored in order of position
    for (std::uint32_t other = 0; other < lanes; ++other) {
      const std::uint32_t other_index = __shfl_sync(~0u, index, slot * lanes + other);
      rank += other_index < index || (other_index == index && other < draw);
    }
    if (drawn)
      level.put(level.offset(entry_id) + rank, entry_id, index,
                Entries::target(program, entry.vertex, row, index));
    if constexpr (Entries::kListed) {
      counters.iterations = drawn;
      count_picks(totals, drawn, counters);
    }
  });
}

/// Without replacement, at most `lanes` <= 32 picks per entry: a lane makes one first choice, and a warp
/// serves 32 / `lanes` entries. Distinct first choices are the picks. Entries whose choices clash are listed
/// for select_kernel, which makes all of their picks again.
template <class Entries, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    first_choice_kernel(Program program, LevelView level, Entries entries, std::uint32_t lanes,
                        std::uint32_t* clashing, unsigned long long* clashes, PickTotals* totals) {
  __shared__ std::uint32_t listed[kSampleBlock];
  __shared__ std::uint32_t listed_count;
  __shared__ std::uint64_t listed_begin;
  const std::uint32_t entries_a_warp = 32 / lanes, lane = threadIdx.x % 32;
  const std::uint32_t slot = lane / lanes, draw = lane - slot * lanes;
  const std::uint64_t entries_a_block = kSampleBlock / 32 * entries_a_warp;
  entries.each(blockIdx.x * entries_a_block, gridDim.x * entries_a_block, [&](std::uint64_t first) {
    if constexpr (Entries::kListed) __syncthreads();  // `listed` is copied out
    if (threadIdx.x == 0) listed_count = 0;
    __syncthreads();
    const std::uint64_t item = first + threadIdx.x / 32 * entries_a_warp + slot;
    const bool active = slot < entries_a_warp && item < entries.size();
    std::uint64_t entry_id = 0, begin = 0;
    std::uint32_t size = 0, index = 0;
    FrontierEntry entry;
    Row row;
    bool needs_filter = false, whole = false;
    if (active) {
      entry_id = entries[item];
      begin = level.offsets[entry_id];
      size = static_cast<std::uint32_t>(level.offsets[entry_id + 1] - begin);
      entry = level.frontier[entry_id];
      row = program.graph.row(entry.vertex);
      const std::uint32_t available = program.candidates(entry.vertex, row);
      whole = size == available;
      needs_filter = whole && available < row.degree;
      index = draw;
      if (!whole && draw < size) index = program.first_choice(program.draws(entry), row, draw);
    }
    std::uint32_t order = 0;
    bool clash = needs_filter;
    for (std::uint32_t other = 0; other < lanes; ++other) {
      const std::uint32_t other_index = __shfl_sync(~0u, index, slot * lanes + other);
      order += other < size && other_index < index;
      clash |= other < size && draw < size && other != draw && other_index == index;
    }
    const unsigned own_lanes = (lanes == 32 ? ~0u : (1u << lanes) - 1) << (slot * lanes & 31);
    const bool redo = (__ballot_sync(~0u, clash) & own_lanes) != 0 && size > 0;
    if (active && draw < size && !redo)
      level.put(begin + order, entry_id, index, Entries::target(program, entry.vertex, row, index));
    if (active && draw == 0 && redo)
      listed[atomicAdd(&listed_count, 1u)] = static_cast<std::uint32_t>(entry_id);
    const bool drawn = active && draw < size && !redo && !whole;
    count_picks(totals, drawn, {.iterations = drawn, .searches = drawn && draw > 0});
    __syncthreads();
    if (threadIdx.x == 0 && listed_count > 0)
      listed_begin = atomicAdd(clashes, static_cast<unsigned long long>(listed_count));
    __syncthreads();
    if (threadIdx.x < listed_count) clashing[listed_begin + threadIdx.x] = listed[threadIdx.x];
  });
}

/// Stores all edges of an entry's list that are candidates, from edge `begin` of the level on.
template <class Entries, class Group, class Program, class IsCandidate>
__device__ __forceinline__ void put_all(const Group& group, const Program& program, const LevelView& level,
                                        std::uint64_t begin, std::uint64_t entry_id, Vertex v, const Row& row,
                                        const IsCandidate& is_candidate) {
  compact_in_order(group, row.degree, is_candidate, [&](std::uint32_t order, std::uint32_t i) {
    level.put(begin + order, entry_id, i, Entries::target(program, v, row, i));
  });
}

/// Scratch of a block's tiles in shared memory.
template <unsigned Size>
struct TilePicks {
  static constexpr unsigned kTiles = kSampleBlock / Size;

  std::uint32_t picks[kTiles][Size], excluded[kTiles][Size], words[kTiles][Size];
};

/// Makes any selection of at most `Size` edges by one tile.
template <class Entries, unsigned Size, class Program>
__device__ __forceinline__ void select_by_tile(const Tile<Size>& tile, const Program& program,
                                               const LevelView& level, std::uint64_t entry_id,
                                               std::uint32_t depth, TilePicks<Size>& scratch,
                                               PickTotals* totals) {
  const unsigned tile_index = threadIdx.x / Size;
  const std::uint64_t begin = level.offsets[entry_id], size = level.offsets[entry_id + 1] - begin;
  if (size == 0 || size > Size) return;
  const FrontierEntry entry = level.frontier[entry_id];
  const Row row = program.graph.row(entry.vertex);
  const std::uint32_t available = program.candidates(entry.vertex, row);
  const std::uint32_t rank = tile.rank();
  PickCounters counters;
  if (program.takes_all(size, program.expansion(entry, depth), program.draws(entry), available)) {
    put_all<Entries>(tile, program, level, begin, entry_id, entry.vertex, row,
                     [&](std::uint32_t i) { return program.is_candidate(entry.vertex, row, i); });
    return;
  }
  if (program.sampler.replacement()) {
    if (rank < size)
      scratch.picks[tile_index][rank] =
          program.draw_one(program.draws(entry), entry.vertex, row, rank, counters);
  } else {
    scratch.words[tile_index][rank] = 0;
    tile.sync();
    // The result is ignored: so few picks never use up their random words.
    program.draw_distinct(
        tile, program.draws(entry), row, static_cast<std::uint32_t>(size),
        {scratch.picks[tile_index], scratch.excluded[tile_index], scratch.words[tile_index], nullptr, Size},
        counters);
  }
  tile.sync();
  if (rank < size) {
    const std::uint32_t own_pick = scratch.picks[tile_index][rank];
    std::uint32_t order = 0;
    for (std::uint32_t other = 0; other < size; ++other) {
      const std::uint32_t other_pick = scratch.picks[tile_index][other];
      order += other_pick < own_pick || (other_pick == own_pick && other < rank);
    }
    level.put(begin + order, entry_id, own_pick, Entries::target(program, entry.vertex, row, own_pick));
  }
  count_picks(totals, rank == 0 ? static_cast<unsigned>(size) : 0, counters);
}

/// One tile per entry: of the listed entries, or of all if `listed` is null.
template <unsigned Size, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    select_kernel(Program program, LevelView level, std::uint32_t depth, const std::uint32_t* listed,
                  std::uint64_t count, PickTotals* totals) {
  __shared__ TilePicks<Size> scratch;
  const std::uint64_t item = thread_index() / Size;
  if (item >= count) return;
  select_by_tile<AllEntries>(Tile<Size>(), program, level, listed ? listed[item] : item, depth, scratch,
                             totals);
}

/// As select_kernel, if the host does not know how many entries are listed, or the grid has only a share of
/// the device. (One kernel for both made samples of a whole level a tenth slower.)
template <unsigned Size, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    select_listed_kernel(Program program, LevelView level, ListedEntries entries, std::uint32_t depth,
                         PickTotals* totals) {
  __shared__ TilePicks<Size> scratch;
  const Tile<Size> tile;
  entries.each(thread_index() / Size, std::uint64_t{gridDim.x} * kSampleBlock / Size, [&](std::uint64_t i) {
    select_by_tile<ListedEntries>(tile, program, level, entries[i], depth, scratch, totals);
    tile.sync();  // the next entry overwrites `scratch`
  });
}

}  // namespace sluice::samples::cuda
