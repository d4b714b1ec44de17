// Kernels of selections that no tile keeps: large ones, and all whose bias is dynamic. One warp makes each,
// in scratch of its own in global memory, and one lane copies each edge of a whole list.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/group.cuh"
#include "engine/samples/entry_list.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/select/group_set.hpp"

namespace sluice::samples::cuda {

/// How many warps work, and how many elements of scratch each has.
struct LargeScratch {
  std::uint64_t warps = 1, sums = 0, picks = 0, words = 0;
  PickScratch all = {};  ///< of the first warp

  /// Elements of 8 bytes that hold a warp's.
  std::uint64_t warp_size() const { return std::max<std::uint64_t>(1, sums + (2 * picks + words + 1) / 2); }
  __device__ __forceinline__ PickScratch of(std::uint64_t warp) const {
    return {all.picks + warp * picks, all.excluded + warp * picks, all.words + warp * words,
            all.sums + warp * sums};
  }
};

/// Which part of all scratch, and of the warps that use it, a launch has: so many units from `begin` on.
struct ScratchPart {
  unsigned begin = 0, units = ~0u;  ///< ~0: all that there are
};

/// Which lists a launch draws from: of more than `above` and at most `most` entries. Whole lists, which need
/// no scratch, are taken by the launch for the shortest.
struct ListLengths {
  std::uint32_t above, most;

  __device__ __forceinline__ bool include(std::uint32_t degree, bool whole) const {
    return whole ? above == 0 : degree > above && degree <= most;
  }
};

// ---- kernels

/// Selections from lists of some lengths, less those that tiles or copy_all_kernel make of a tabled bias.
/// large_warps() makes two blocks for each multiprocessor, so that a block may take half of the registers.
/// (With an early return of idle warps kernels spilled at that bound, and took 222 registers without it.)
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
      if (!Program::kDynamic && available == row.degree) continue;  // copy_all_kernel's
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

/// Whole lists that no tile takes: one lane an edge, so that a hub is shared by many warps. `begins`: [turns
/// + 1] edges of the entries before, from any number on.
template <class Turns, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    copy_all_kernel(Program program, LevelView level, Turns turns, std::uint32_t depth,
                    const std::uint64_t* begins) {
  const std::uint64_t end = begins[turns.size()];
  for (std::uint64_t edge = begins[0] + thread_index(); edge < end;
       edge += std::uint64_t{gridDim.x} * kSampleBlock) {
    const auto begun = [&](std::uint64_t turn) { return begins[turn] <= edge; };
    const std::uint64_t turn = count_while(turns.size(), begun) - 1;  // the edge's entry's
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
