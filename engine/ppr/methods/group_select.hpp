// Finds and sorts the first of many ranked vertices, by a group of threads.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/group_sort.hpp"
#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// Divides ranked vertices: those that it accepts rank before all others.
struct RankCut {
  std::uint64_t key = 0;
  std::uint32_t inverted_id = 0;  ///< inverted id: like the key, the larger the better

  SLUICE_HD bool accepts(const RankedVertex& v) const {
    return v.key != key ? v.key > key : ~v.vertex >= inverted_id;
  }
};

/// Radix selection by digits of 8 bits, from the highest: those of the key, then of the inverted id. Each
/// round counts the vertices that agree with the cut so far.
class RankDigits {
 public:
  static constexpr unsigned kBins = 256;
  static constexpr unsigned kLevels = 12;

  SLUICE_HD static unsigned digit(const RankedVertex& v, unsigned level) {
    return level < 8 ? static_cast<unsigned>(v.key >> (56 - 8 * level)) & 255
                     : (~v.vertex >> (88 - 8 * level)) & 255;
  }
  /// True if the vertex agrees with the cut in all digits before `level`.
  SLUICE_HD static bool agrees(const RankedVertex& v, const RankCut& cut, unsigned level) {
    if (level == 0) return true;
    if (level <= 8) return (v.key ^ cut.key) >> (64 - 8 * level) == 0;
    return v.key == cut.key && (~v.vertex ^ cut.inverted_id) >> (96 - 8 * level) == 0;
  }
  SLUICE_HD static void set(RankCut& cut, unsigned level, unsigned digit) {
    if (level < 8) {
      cut.key |= std::uint64_t{digit} << (56 - 8 * level);
    } else {
      cut.inverted_id |= digit << (88 - 8 * level);
    }
  }
};

/// The bin in which the first `wanted` end, counted from the highest bin.
struct LastBin {
  unsigned bin;
  std::uint32_t in_bin, above;  ///< counts of this bin, and of all higher ones
};

/// All lanes get the same result. The bins have `wanted` or more; `wanted` is not 0.
template <class Group>
SLUICE_HD LastBin find_last_bin(const Group& group, const std::uint32_t* bins, unsigned count,
                                std::uint32_t wanted) {
  const auto passed = first_sum_above(group, count, wanted - 1,
                                      [&](unsigned position) { return bins[count - 1 - position]; });
  const unsigned bin = count - 1 - passed.index();
  const std::uint32_t in_bin = bins[bin];
  return {bin, in_bin, group.broadcast(passed.sum, passed.lane) - in_bin};
}

/// Returns the cut that accepts `wanted` of the vertices at(0) .. at(count - 1); 1 <= wanted <= count. Ids
/// must differ. The lanes share `bins`, [RankDigits::kBins].
template <class Group, class At>
SLUICE_HD RankCut select_first(const Group& group, std::uint32_t* bins, std::uint32_t count,
                               std::uint32_t wanted, At&& at) {
  RankCut cut;
  for (unsigned level = 0; level < RankDigits::kLevels; ++level) {
    for (unsigned bin = group.rank(); bin < RankDigits::kBins; bin += Group::kSize) bins[bin] = 0;
    group.sync();
    for (std::uint32_t i = group.rank(); i < count; i += Group::kSize) {
      const RankedVertex v = at(i);
      if (RankDigits::agrees(v, cut, level)) group_add<Group>(&bins[RankDigits::digit(v, level)], 1u);
    }
    group.sync();
    const LastBin last = find_last_bin(group, bins, RankDigits::kBins, wanted);
    RankDigits::set(cut, level, last.bin);
    wanted -= last.above;
    if (wanted == last.in_bin) return cut;
  }
  return cut;
}

/// Sorts into the order of result lists.
template <class Group>
SLUICE_HD void sort_ranked(const Group& group, RankedVertex* all, std::uint32_t count) {
  group_sort(group, all, count, [](const RankedVertex& a, const RankedVertex& b) { return a.before(b); });
}

}  // namespace sluice::ppr
