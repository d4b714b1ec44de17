// Kernels of selections that do not fit a tile: large ones, and all with a dynamic bias. One warp makes each
// selection, in its own scratch in global memory. Whole lists are copied with one lane per edge.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/group.cuh"
#include "engine/samples/entry_list.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/select/group_set.hpp"

namespace sluice::samples::cuda {

/// The number of warps that work, and the elements of scratch of each.
struct LargeScratch {
  std::uint64_t warps = 1, sums = 0, picks = 0, words = 0;
  PickScratch all = {};  ///< of the first warp

  /// Scratch of one warp, in elements of 8 bytes.
  std::uint64_t warp_size() const { return std::max<std::uint64_t>(1, sums + (2 * picks + words + 1) / 2); }
  __device__ __forceinline__ PickScratch of(std::uint64_t warp) const {
    return {all.picks + warp * picks, all.excluded + warp * picks, all.words + warp * words,
            all.sums + warp * sums};
  }
};

/// A launch's part of the scratch, and of the warps that use it: `units` units from `begin` on.
struct ScratchPart {
  unsigned begin = 0, units = ~0u;  ///< ~0: all units
};

/// The lists from which a launch draws: those longer than `above` and at most `most`. Whole lists, which need
/// no scratch, belong to the launch with `above` 0.
struct ListLengths {
  std::uint32_t above, most;

  __device__ __forceinline__ bool include(std::uint32_t degree, bool whole) const {
    return whole ? above == 0 : degree > above && degree <= most;
  }
};

// ---- kernels

/// Selections from lists of the given lengths, except those that tiles or copy_all_kernel make for a bias
/// with tables. large_warps() gives each multiprocessor two blocks, so a block may use half of the registers.
/// (With an early return of idle warps the kernel spilled at that bound, and used 222 registers without it.)
template <class Turns, class Program>
__global__ void __launch_bounds__(kSampleBlock, 2)
    select_large_kernel(Program program, LevelView level, Turns turns, std::uint32_t depth,
                        ListLengths lengths, LargeScratch scratch, LevelFacts* facts, PickTotals* totals) {
  constexpr std::uint64_t kMadeByTiles = Program::kDynamic ? 0 : kTilePicks;
  const Tile<32> warp;
  const std::uint64_t worker = thread_index() / 32;
  const PickScratch own = scratch.of(worker);
  for (std::uint64_t turn = worker; worker < scratch.warps && turn < turns.size(); turn += scratch.warps) {
    const std::uint64_t at = turns[turn];
    const std::uint64_t begin = level.offsets[at], size = level.offsets[at + 1] - begin;
    if (size <= kMadeByTiles) continue;
    const FrontierEntry entry = level.frontier[at];
    const Row row = program.graph.row(entry.vertex);
    const auto from = program.expansion(entry, depth, Program::kDynamic ? level.parents[at] : kNoVertex);
    const std::uint32_t available =
        Program::kDynamic ? level.available[at] : program.candidates(entry.vertex, row);
    const SampleDraws random = program.draws(entry);
    const bool whole = program.takes_all(size, from, random, available);
    if (!lengths.include(row.degree, whole)) continue;
    const EntryList<Program> list(program, from, row);
    if (whole) {
      if (!Program::kDynamic && available == row.degree) continue;  // copy_all_kernel takes it
      put_all<Turns>(warp, program, level, begin, at, entry.vertex, row,
                     [&](std::uint32_t i) { return list.is_candidate(i); });
      continue;
    }
    PickCounters counters;
    if constexpr (Program::kDynamic) {
      if (scratch.sums > 0) list.measure(warp, own.sums);
    }
    if (program.sampler.replacement()) {
      for (std::uint32_t j = warp.rank(); j < size; j += 32)
        own.picks[j] = list.draw_one(random, j, own.sums, counters);
    } else if (!list.draw_distinct(warp, random, static_cast<std::uint32_t>(size), own, counters)) {
      raise(&facts->exhausted, 1);
      continue;
    }
    warp.sync();
    group_sort(warp, own.picks, size);
    for (std::uint32_t j = warp.rank(); j < size; j += 32) {
      const std::uint32_t index = own.picks[j];
      level.put(begin + j, at, index, Turns::target(program, entry.vertex, row, index));
    }
    warp.sync();
    count_picks(totals, warp.rank() == 0 ? static_cast<unsigned>(size) : 0, counters);
  }
}

/// Copies whole lists that are too large for a tile: one lane per edge, so that many warps share a hub.
/// `begins`: [turns + 1] edges of earlier entries, plus any constant.
template <class Turns, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    copy_all_kernel(Program program, LevelView level, Turns turns, std::uint32_t depth,
                    const std::uint64_t* begins) {
  const std::uint64_t end = begins[turns.size()];
  for (std::uint64_t edge = begins[0] + thread_index(); edge < end;
       edge += std::uint64_t{gridDim.x} * kSampleBlock) {
    const auto begun = [&](std::uint64_t turn) { return begins[turn] <= edge; };
    const std::uint64_t turn = count_while(turns.size(), begun) - 1;  // of the edge's entry
    const std::uint64_t size = begins[turn + 1] - begins[turn];
    if (size <= kTilePicks) continue;
    const std::uint64_t at = turns[turn];
    const FrontierEntry entry = level.frontier[at];
    const Row row = program.graph.row(entry.vertex);
    if (size != row.degree || !program.takes_all(size, program.expansion(entry, depth), program.draws(entry),
                                                 program.candidates(entry.vertex, row)))
      continue;
    const auto index = static_cast<std::uint32_t>(edge - begins[turn]);
    level.put(level.offsets[at] + index, at, index, Turns::target(program, entry.vertex, row, index));
  }
}

}  // namespace sluice::samples::cuda
