// Kernels of samples whose bias is dynamic: one warp an entry, which measures its list when it is expanded
// and makes the list's CTPS in scratch of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/group.cuh"
#include "engine/samples/dynamic_step.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/select/group_set.hpp"

namespace sluice::samples::cuda {

/// How many warps work, and how many elements of scratch each has.
struct DynamicScratch {
  std::uint64_t warps = 1, sums = 0, picks = 0, words = 0;
};

/// Scratch for lists of at most `widest` entries that select at most `drawn` edges each: for all warps that
/// are useful where that fits `most_bytes` bytes, else for fewer. How many never changes a sample.
inline DynamicScratch size_scratch(bool makes_ctps, bool bitmap, std::uint64_t widest, std::uint64_t drawn,
                                   std::uint64_t most_bytes, std::uint64_t most_warps) {
  DynamicScratch scratch;
  scratch.sums = makes_ctps ? widest : 0;
  scratch.picks = drawn;
  scratch.words = bitmap ? widest / 32 + 1 : 0;
  const std::uint64_t bytes =
      scratch.sums * sizeof(std::uint64_t) + (2 * scratch.picks + scratch.words) * sizeof(std::uint32_t) + 1;
  scratch.warps = std::clamp<std::uint64_t>(most_bytes / bytes, 1, most_warps);
  return scratch;
}

/// Which lists a launch draws from: of more than `above` and at most `most` entries. Whole lists, which need
/// no scratch, are taken by the launch for the shortest.
struct ListLengths {
  std::uint32_t above, most;

  __device__ __forceinline__ bool include(std::uint32_t degree, bool whole) const {
    return whole ? above == 0 : degree > above && degree <= most;
  }
};

// ---- kernels

/// The candidates of each entry and how many edges it selects.
template <class Turns, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    measure_kernel(Program program, LevelView level, Turns turns, std::uint32_t depth, std::uint64_t* sizes,
                   LevelFacts* facts) {
  const Tile<32> warp;
  const std::uint64_t turn = thread_index() / 32;
  if (turn >= turns.size()) return;
  const std::uint64_t own = turns[turn];
  const FrontierEntry entry = level.frontier[own];
  const Row row = program.graph.row(entry.vertex);
  const TracedExpansion at = program.expansion(entry, depth, level.parents[own]);
  ListMeasure list{row.degree, true};
  if (!program.every_is_candidate) list = DynamicList<Program>(program, at, row).measure(warp, nullptr);
  if (warp.rank() != 0) return;
  if (!list.fits) raise(&facts->too_large, std::uint64_t{entry.vertex} + 1);
  const SampleDraws random = program.draws(entry);
  const std::uint64_t size = program.size(at, random, list.candidates);
  level.available[own] = list.candidates;
  sizes[own] = size;
  raise(&facts->largest, size);
  if (size > 0 && !program.takes_all(size, at, random, list.candidates)) {
    raise(&facts->drawn, size);
    raise(&facts->widest, row.degree);
  }
}

/// Selections of any size from lists of some lengths.
template <class Turns, class Program>
__global__ void __launch_bounds__(kSampleBlock)
    select_dynamic_kernel(Program program, LevelView level, Turns turns, std::uint32_t depth,
                          ListLengths lengths, DynamicScratch sizes, std::uint64_t* sums,
                          std::uint32_t* picks, std::uint32_t* excluded, std::uint32_t* words,
                          LevelFacts* facts, PickTotals* totals) {
  const Tile<32> warp;
  const std::uint64_t worker = thread_index() / 32;
  if (worker >= sizes.warps) return;
  const PickScratch scratch{picks + worker * sizes.picks, excluded + worker * sizes.picks,
                            words + worker * sizes.words, sums + worker * sizes.sums};
  for (std::uint64_t turn = worker; turn < turns.size(); turn += sizes.warps) {
    const std::uint64_t own = turns[turn];
    const std::uint64_t begin = level.offsets[own], size = level.offsets[own + 1] - begin;
    if (size == 0) continue;
    const FrontierEntry entry = level.frontier[own];
    const Row row = program.graph.row(entry.vertex);
    const TracedExpansion at = program.expansion(entry, depth, level.parents[own]);
    const SampleDraws random = program.draws(entry);
    const bool whole = program.takes_all(size, at, random, level.available[own]);
    if (!lengths.include(row.degree, whole)) continue;
    const DynamicList<Program> list(program, at, row);
    if (whole) {
      put_all<Turns>(warp, program, level, begin, own, entry.vertex, row,
                     [&](std::uint32_t i) { return list.is_candidate(i); });
      continue;
    }
    PickCounters counters;
    if (sizes.sums > 0) list.measure(warp, scratch.sums);
    if (program.sampler.replacement()) {
      for (std::uint32_t j = warp.rank(); j < size; j += 32)
        scratch.picks[j] = list.draw_one(random, j, scratch.sums, counters);
    } else if (!program.draw_distinct_by(scratch.sums, warp, random, row, static_cast<std::uint32_t>(size),
                                         scratch, counters)) {
      if (warp.rank() == 0) raise(&facts->exhausted, 1);
      continue;
    }
    warp.sync();
    group_sort(warp, scratch.picks, size);
    for (std::uint32_t j = warp.rank(); j < size; j += 32)
      level.put(begin + j, own, scratch.picks[j], program.graph.target(row.offset + scratch.picks[j]));
    warp.sync();
    count_picks(totals, warp.rank() == 0 ? static_cast<unsigned>(size) : 0, counters);
  }
}

}  // namespace sluice::samples::cuda
