// The totals of an iteration, and their sum over the ranks of a job.
#pragma once

#include <array>
#include <cstdint>

#include "engine/exchange/communicator.hpp"
#include "engine/pagerank/changes/change.hpp"

namespace sluice::pagerank {

struct SweepTotals {
  RankChange change;
  FixedRank rank = 0;      ///< summed over all vertices; 1 but for rounding
  FixedRank dangling = 0;  ///< summed over dangling vertices

  SLUICE_HD void join(const SweepTotals& other, RankNorm norm) {
    change.join(other.change, norm);
    rank += other.rank;
    dangling += other.dangling;
  }
};

/// The change over all ranks of the job; `counts` are summed along with it.
inline RankChange total_of(Communicator& ranks, const RankChange& own, RankNorm norm,
                           std::array<std::uint64_t, 3>& counts) {
  RankChange all;
  // 128 bits in limbs of 32 bits, one a 64-bit word, so that no sum over the ranks overflows.
  std::array<std::uint64_t, 8> sums{own.sum, counts[0], counts[1], counts[2]};
  for (unsigned limb = 0; limb < 4; ++limb)
    sums[4 + limb] = static_cast<std::uint32_t>(own.value >> (32 * limb));
  ranks.all_reduce(sums, Reduce::sum, "the change of an iteration");
  all.sum = sums[0];
  counts = {sums[1], sums[2], sums[3]};
  if (norm == RankNorm::linf) {
    auto largest = static_cast<std::uint64_t>(own.value);
    ranks.all_reduce(std::span(&largest, 1), Reduce::max, "the change of an iteration");
    all.value = largest;
  } else {
    for (unsigned limb = 0; limb < 4; ++limb)
      all.value += static_cast<unsigned __int128>(sums[4 + limb]) << (32 * limb);
  }
  return all;
}

/// The totals over all ranks of the job.
inline SweepTotals total_of(Communicator& ranks, const SweepTotals& own, RankNorm norm) {
  if (ranks.size() == 1) return own;
  std::array<std::uint64_t, 3> counts{own.rank, own.dangling};
  const RankChange change = total_of(ranks, own.change, norm, counts);
  return {change, counts[0], counts[1]};
}

}  // namespace sluice::pagerank
