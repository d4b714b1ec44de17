// Ranks as fixed-point integers, so that sums do not depend on their order.
//
// A rank and a contribution (what a vertex gives to each of its out-neighbours, rank / out-degree) are
// integers in units of 2^-62 (Q62). A vertex's sum is a sum of integers. So threads, ranks, partitions and
// backends cannot change a bit of it, nor of the ranks, of the number of iterations or of a frontier. All
// floating-point arithmetic is one stated sequence of IEEE operations in double, none of them fused.
//
// The error. Let e = 2^-62, m edges, n vertices, d the damping. A contribution is rounded once, by at most
// e/2. (Division in double is exact enough: ranks have at most 53 significant bits in units of e, and the
// quotient has a relative error of 2^-53.) So the sum of v errs by at most indegree(v) e/2 + 2^-53 sum(v),
// and the update adds three roundings of 2^-53 of the rank and one of e/2. One iteration errs in L1 by at
// most
//     E = d m e/2 + n e/2 + 2^-51,
// and since an iteration contracts L1 distances by d, the limit errs by at most E / (1 - d): 1.1e-12 for a
// million edges and d = 0.85, if all roundings went the same way. Their signs are random, which leaves about
// sqrt(m) e. In linf one vertex errs by indegree(v) e/2 in one iteration: 1e-14 for a hub of 10^5 in-edges.
//
// Sums do not overflow: ranks sum to 1, plus at most E / (1 - d), which stays below 1 for 2^59 edges.
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

/// The nearest integer to x, halves rounded up; 0 <= x < 2^63.
SLUICE_HD std::uint64_t round_to_nearest(double x) {
  const auto truncated = static_cast<std::int64_t>(x);
  const bool up = add(x, -static_cast<double>(truncated)) >= 0.5;  // the difference is exact
  return static_cast<std::uint64_t>(truncated) + (up ? 1 : 0);
}

}  // namespace rank_detail

/// The nearest double; exact for results of to_fixed().
SLUICE_HD double from_fixed(FixedRank rank) {
  return rank_detail::multiply(static_cast<double>(static_cast<std::int64_t>(rank)), 1 / kFixedRankOne);
}

/// The reported rank: divided by `total`, the sum of all ranks. Many vertices may have one rank and so the
/// same rounding error, which adds up to more than random ones.
SLUICE_HD double normalised(FixedRank rank, FixedRank total) {
  return rank_detail::divide(from_fixed(rank), from_fixed(total));
}

/// Rounds to the nearest unit; 0 <= rank < 2.
SLUICE_HD FixedRank to_fixed(double rank) {
  return rank_detail::round_to_nearest(rank_detail::multiply(rank, kFixedRankOne));
}

/// The terms of a rank update that all vertices share in one iteration.
struct RankUpdate {
  double damping = 0.85;
  double base = 0;   ///< (1 - damping) / vertices
  double dangling_share = 0;  ///< each vertex's part of the dangling vertices' rank, before damping
  double vertices = 1;

  /// Spreads `dangling` rank over all vertices.
  SLUICE_HD void set_dangling(FixedRank dangling) {
    dangling_share = rank_detail::divide(from_fixed(dangling), vertices);
  }

  /// (1 - d) / n + d (sum + share): in double a conversion, sum, product and sum; then rounded once.
  SLUICE_HD FixedRank operator()(FixedRank sum) const {
    using namespace rank_detail;
    return to_fixed(add(base, multiply(damping, add(from_fixed(sum), dangling_share))));
  }
};

}  // namespace sluice::pagerank
