// Kernels of selections that do not fit a tile: large ones, and all with a dynamic bias. One warp makes each
// selection, in its own scratch in global memory. Whole lists are copied with one lane per edge.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/group.cuh"
#include "engine/exec/group_sort.hpp"
#include "engine/samples/entry_list.hpp"
#include "engine/samples/kernels.cuh"

namespace sluice::samples::cuda {

/// The number of warps that work, and the elements of scratch of each.
struct LargeScratch {
  std::uint64_t warps = 1, sums = 0, picks = 0, words = 0;
  PickScratch base = {};  ///< of the first warp

  /// Scratch of one warp, in elements of 8 bytes.
  std::uint64_t warp_size() const { return std::max<std::uint64_t>(1, sums + (2 * picks + words + 1) / 2); }
  __device__ __forceinline__ PickScratch for_warp(std::uint64_t warp) const {
    return {base.picks + warp * picks, base.excluded + warp * picks, base.words + warp * words,
            base.sums + warp * sums};
  }
};

/// A launch's part of the scratch, and of the warps that use it: `units` units from `begin` on.
struct ScratchPart {
  unsigned begin = 0, units = ~0u;  ///< ~0: all units
};

/// The lists from which a launch draws: those longer than `above` and at most `max`. Whole lists, which need
/// no scratch, belong to the launch with `above` 0.
struct ListLengths {
  std::uint32_t above, max;

  __device__ __forceinline__ bool include(std::uint32_t degree, bool whole) const {
    return whole ? above == 0 : degree > above && degree <= max;
  }
};

// ---- kernels

/// Selections from lists of the given lengths, except those that tiles or copy_all_kernel make for a bias
/// with tables. large_warps() gives each multiprocessor two blocks, so a block may use half of the registers.
/// (With an early return of idle warps the kernel spilled at that bound, and used 222 registers without it.)
template <class Entries, class Program>
__global__ void __launch_bounds__(kSampleBlock, 2)
    select_large_kernel(Program program, LevelView level, Entries entries, std::uint32_t depth,
                        ListLengths lengths, LargeScratch scratch, LevelSummary* summary,
                        PickTotals* totals) {
  constexpr std::uint64_t kMadeByTiles = Program::kDynamic ? 0 : kTilePicks;
  const Tile<32> warp;
  const std::uint64_t worker = thread_index() / 32;
  const PickScratch own_scratch = scratch.for_warp(worker);
  for (std::uint64_t item = worker; worker < scratch.warps && item < entries.size(); item += scratch.warps) {
    const std::uint64_t entry_id = entries[item];
    const std::uint64_t begin = level.offsets[entry_id], size = level.offsets[entry_id + 1] - begin;
    if (size <= kMadeByTiles) continue;
    const FrontierEntry entry = level.frontier[entry_id];
    const Row row = program.graph.row(entry.vertex);
    const auto expansion =
        program.expansion(entry, depth, Program::kDynamic ? level.parents[entry_id] : kNoVertex);
    const std::uint32_t available =
        Program::kDynamic ? level.available[entry_id] : program.candidates(entry.vertex, row);
    const SampleDraws random = program.draws(entry);
    const bool whole = program.takes_all(size, expansion, random, available);
    if (!lengths.include(row.degree, whole)) continue;
    const EntryList<Program> list(program, expansion, row);
    if (whole) {
      if (!Program::kDynamic && available == row.degree) continue;  // copy_all_kernel takes it
      put_all<Entries>(warp, program, level, begin, entry_id, entry.vertex, row,
                       [&](std::uint32_t i) { return list.is_candidate(i); });
      continue;
    }
    PickCounters counters;
    if constexpr (Program::kDynamic) {
      if (scratch.sums > 0) list.measure(warp, own_scratch.sums);
    }
    if (program.sampler.replacement()) {
      for (std::uint32_t j = warp.rank(); j < size; j += 32)
        own_scratch.picks[j] = list.draw_one(random, j, own_scratch.sums, counters);
    } else if (!list.draw_distinct(warp, random, static_cast<std::uint32_t>(size), own_scratch, counters)) {
      raise_max(&summary->exhausted, 1);
      continue;
    }
    warp.sync();
    group_sort(warp, own_scratch.picks, size);
    for (std::uint32_t j = warp.rank(); j < size; j += 32) {
      const std::uint32_t index = own_scratch.picks[j];
      level.put(begin + j, entry_id, index, Entries::target(program, entry.vertex, row, index));
    }
    warp.sync();
    count_picks(totals, warp.rank() == 0 ? static_cast<unsigned>(size) : 0, counters);
  }
}

/// Copies whole lists that are too large for a tile: one lane per edge, so that many warps share a hub.
/// `begins`: [entries + 1] edges of earlier entries, plus any constant.
template <class Entries, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    copy_all_kernel(Program program, LevelView level, Entries entries, std::uint32_t depth,
                    const std::uint64_t* begins) {
  const std::uint64_t end = begins[entries.size()];
  for (std::uint64_t edge = begins[0] + thread_index(); edge < end;
       edge += std::uint64_t{gridDim.x} * kSampleBlock) {
    const auto begins_before = [&](std::uint64_t item) { return begins[item] <= edge; };
    const std::uint64_t item = count_while(entries.size(), begins_before) - 1;  // of the edge's entry
    const std::uint64_t size = begins[item + 1] - begins[item];
    if (size <= kTilePicks) continue;
    const std::uint64_t entry_id = entries[item];
    const FrontierEntry entry = level.frontier[entry_id];
    const Row row = program.graph.row(entry.vertex);
    if (size != row.degree || !program.takes_all(size, program.expansion(entry, depth), program.draws(entry),
                                                 program.candidates(entry.vertex, row)))
      continue;
    const auto index = static_cast<std::uint32_t>(edge - begins[item]);
    level.put(level.offsets[entry_id] + index, entry_id, index,
              Entries::target(program, entry.vertex, row, index));
  }
}

}  // namespace sluice::samples::cuda
