// The change of ranks in an iteration, in the norm that decides when to stop. It is an integer, so that the
// order of additions does not matter.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/pagerank/fixed_rank.hpp"
#include "engine/pagerank/options.hpp"

namespace sluice::pagerank {

/// The largest change (linf), the sum of changes (l1) or of their squares (l2), in units of 2^-62 or 2^-124.
/// Changes sum to less than 4, their squares to less than 16: 64 and 128 bits hold them.
struct RankChange {
  unsigned __int128 value = 0;
  std::uint64_t sum = 0;  ///< of the changes, for any norm: each iteration is known to shrink it

  SLUICE_HD void add(FixedRank before, FixedRank after, RankNorm norm) {
    const FixedRank change = after > before ? after - before : before - after;
    join({norm == RankNorm::l2 ? static_cast<unsigned __int128>(change) * change : change, change}, norm);
  }

  SLUICE_HD void join(const RankChange& other, RankNorm norm) {
    if (norm == RankNorm::linf) {
      if (other.value > value) value = other.value;
    } else {
      value += other.value;
    }
    sum += other.sum;
  }

  /// The norm as a double.
  SLUICE_HD double norm(RankNorm kind) const {
    const double high = static_cast<double>(static_cast<std::uint64_t>(value >> 64));
    const double low = static_cast<double>(static_cast<std::uint64_t>(value));
    const double whole = high * 18446744073709551616.0 + low;
    return (kind == RankNorm::l2 ? std::sqrt(whole) : whole) / kFixedRankOne;
  }
  SLUICE_HD double l1() const { return static_cast<double>(sum) / kFixedRankOne; }
};

}  // namespace sluice::pagerank
