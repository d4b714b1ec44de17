// Ranks as fixed-point integers, so that sums do not depend on their order.
//
// A rank and what a vertex gives to each of its out-neighbours (its contribution, rank / out-degree) are kept
// as integers in units of 2^-62 (Q62). A vertex's sum is a sum of integers: threads, ranks, partitions and
// backends cannot change a bit of it, nor of the ranks, of the number of iterations or of a frontier. Where
// floating point is used it is one stated sequence of IEEE operations in double, none of them fused.
//
// What it costs. Let e = 2^-62, m edges, n vertices, d the damping. A contribution is rounded once, by at
// most e/2 (a double divides exactly enough: ranks have at most 53 significant bits in units of e, and the
// quotient errs by 2^-53 of itself besides). So the sum of v errs by at most indegree(v) e/2 + 2^-53 sum(v),
// and the update adds three roundings of 2^-53 of the rank and one of e/2. One iteration errs in L1 by at
// most
//     E = d m e/2 + n e/2 + 2^-51,
// and since an iteration contracts L1 distances by d, the limit errs by at most E / (1 - d): 1.1e-12 for a
// million edges and d = 0.85, were all roundings to go the same way. They do not: random signs leave about
// sqrt(m) e. In linf one vertex errs by indegree(v) e/2 in one iteration: 1e-14 for a hub of 10^5 in-edges.
//
// Sums fit: ranks sum to 1, plus at most E / (1 - d), which stays below 1 for 2^59 edges.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/unfused.hpp"

namespace sluice::pagerank {

/// A rank or a contribution in units of 2^-62.
using FixedRank = std::uint64_t;

inline constexpr int kFixedRankBits = 62;
inline constexpr double kFixedRankOne = 4611686018427387904.0;  // 2^62

namespace rank_detail {

using unfused::add;
using unfused::divide;
using unfused::multiply;

/// The nearest integer, halves up, of a number that is neither negative nor 2^63 or more.
SLUICE_HD std::uint64_t nearest(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  const bool up = add(x, -static_cast<double>(whole)) >= 0.5;  // the difference is exact
  return static_cast<std::uint64_t>(whole) + (up ? 1 : 0);
}

}  // namespace rank_detail

/// The double that is nearest; exact for what to_fixed() made.
SLUICE_HD double from_fixed(FixedRank rank) {
  return rank_detail::multiply(static_cast<double>(static_cast<std::int64_t>(rank)), 1 / kFixedRankOne);
}

/// A rank as it is handed out, where all ranks sum to `total`: many vertices may have the very same rank, and
/// so the very same rounding error, which adds up to more than random ones do.
SLUICE_HD double normalised(FixedRank rank, FixedRank total) {
  return rank_detail::divide(from_fixed(rank), from_fixed(total));
}

/// Rounds to the nearest; 0 <= rank < 2.
SLUICE_HD FixedRank to_fixed(double rank) {
  return rank_detail::nearest(rank_detail::multiply(rank, kFixedRankOne));
}

/// What a source of `rank` gives along each of its edges. `divisor` is its out-degree, above 0.
SLUICE_HD FixedRank contribution(FixedRank rank, double divisor) {
  return rank_detail::nearest(
      rank_detail::divide(static_cast<double>(static_cast<std::int64_t>(rank)), divisor));
}

/// The same for a weighted graph, per unit of weight and not rounded to an integer yet: `divisor` is the sum
/// of the source's weights, above 0.
SLUICE_HD double contribution_per_weight(FixedRank rank, double divisor) {
  return rank_detail::divide(static_cast<double>(static_cast<std::int64_t>(rank)), divisor);
}

/// What an edge of `weight` carries.
SLUICE_HD FixedRank weighted_contribution(double per_weight, double weight) {
  return rank_detail::nearest(rank_detail::multiply(per_weight, weight));
}

/// What all vertices have in common in one iteration.
struct RankUpdate {
  double damping = 0.85;
  double base = 0;   ///< (1 - damping) / vertices
  double share = 0;  ///< what every vertex gets of the rank of dangling ones, before damping
  double vertices = 1;

  /// Spreads `dangling` rank over all vertices.
  SLUICE_HD void spread(FixedRank dangling) { share = rank_detail::divide(from_fixed(dangling), vertices); }

  /// (1 - d) / n + d (sum + share): a conversion, a sum, a product, a sum, and rounded to an integer once.
  SLUICE_HD FixedRank operator()(FixedRank sum) const {
    using namespace rank_detail;
    return to_fixed(add(base, multiply(damping, add(from_fixed(sum), share))));
  }
};

}  // namespace sluice::pagerank
