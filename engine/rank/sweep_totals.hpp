// What an iteration leaves behind beside the ranks, and how ranks of a job add it up.
#pragma once

#include <array>
#include <cstdint>

#include "engine/exchange/communicator.hpp"
#include "engine/rank/change.hpp"

namespace sluice {

struct SweepTotals {
  RankChange change;
  FixedRank rank = 0;            ///< of all vertices; 1 but for rounding
  FixedRank dangling = 0;        ///< of those without out-edges
  std::uint64_t new_shares = 0;  ///< contributions that are not what they were

  SLUICE_HD void join(const SweepTotals& other, RankNorm norm) {
    change.join(other.change, norm);
    rank += other.rank;
    dangling += other.dangling;
    new_shares += other.new_shares;
  }
};

/// The totals of all ranks.
inline SweepTotals total_of(Communicator& ranks, const SweepTotals& mine, RankNorm norm) {
  if (ranks.size() == 1) return mine;
  SweepTotals all;
  // 128 bits in limbs of 32, so that no sum over the ranks carries into the next limb and is lost.
  std::array<std::uint64_t, 8> sums{mine.change.sum, mine.rank, mine.dangling, mine.new_shares};
  for (unsigned limb = 0; limb < 4; ++limb)
    sums[4 + limb] = static_cast<std::uint32_t>(mine.change.value >> (32 * limb));
  ranks.all_reduce(sums, Reduce::sum, "the change of an iteration");
  all.change.sum = sums[0];
  all.rank = sums[1];
  all.dangling = sums[2];
  all.new_shares = sums[3];
  if (norm == RankNorm::linf) {
    auto largest = static_cast<std::uint64_t>(mine.change.value);
    ranks.all_reduce(std::span(&largest, 1), Reduce::max, "the change of an iteration");
    all.change.value = largest;
  } else {
    for (unsigned limb = 0; limb < 4; ++limb)
      all.change.value += static_cast<unsigned __int128>(sums[4 + limb]) << (32 * limb);
  }
  return all;
}

}  // namespace sluice
