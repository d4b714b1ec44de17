// Probability mass as integers, so that sums do not depend on their order.
//
// A query's mass is 1 = 2^63 units. Every product and quotient is rounded down, and only sums are taken of
// the results, so scores are the same to the bit for any order of additions: for any threads, batches, ranks
// and backends. And no score exceeds the true one. Since true scores sum to 1 (mass is never lost: that of a
// vertex without out-edges returns), what the scores of a query miss in sum, rounding included, is exactly 1
// minus their sum: an error that needs no analysis.
//
// What it costs: at most one unit where a vertex splits its mass, one where it is kept, and one an edge. A
// diffusion over m edges in L steps misses at most 3 m L units, and less since mass decays: 5e-13 for a
// million edges at alpha 0.85. Weights are split in double, rounded down by 2^-50 of themselves.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/core/macros.hpp"
#include "engine/random/uniform.hpp"

namespace sluice::ppr {

/// In units of 2^-63.
using Mass = std::uint64_t;
/// Where a query has fewer than 2^32 units (MassUnits), workspaces store masses so. None overflows: mass is
/// taken from one place before it is added in others, and parts are rounded down. All scores of a query
/// together never exceed its units, nor does all that waits, or all that moves. Other sums have 64 bits.
using CoarseMass = std::uint32_t;

inline constexpr Mass kWholeMass = Mass{1} << 63;

/// The double that is nearest.
SLUICE_HD double from_mass(Mass mass) {
  return static_cast<double>(mass) * 0x1p-63;
}

/// Positive doubles are ordered as their bits are.
SLUICE_HD std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
SLUICE_HD double double_of(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// How many units a query's mass has: 2^63, or as many as fit integers of 32 bits.
struct MassUnits {
  Mass whole = kWholeMass;
  double one = 0x1p-63;

  /// 0: 2^63.
  SLUICE_HD static MassUnits of(Mass units) {
    return units == 0 ? MassUnits{} : MassUnits{units, 1.0 / static_cast<double>(units)};
  }
  /// `degree` for each vertex of a ball: at least 1, and no more than 32 bits hold.
  SLUICE_HD static MassUnits of_ball(std::uint64_t degree, std::uint64_t vertices) {
    constexpr Mass kMost = ~std::uint32_t{0};
    if (degree > kMost / vertices) return of(kMost);
    return of(degree == 0 ? 1 : degree * vertices);
  }
  SLUICE_HD double share(Mass mass) const { return static_cast<double>(mass) * one; }
  /// Rounded down; 0 <= share <= 1.
  SLUICE_HD Mass mass(double share) const { return static_cast<Mass>(share * static_cast<double>(whole)); }
};

/// Is there at least `least` of it for each of so many edges (and for a vertex without one)?
SLUICE_HD bool reaches(Mass mass, Mass least, std::uint64_t edges) {
  if (edges == 0) return mass >= least;
  return multiply_high(least, edges) == 0 && mass >= least * edges;
}

/// mass / edges, faster than a GPU divides; `reciprocal` is reciprocal_of(edges), edges > 0. The product with
/// it misses the quotient by less than 1, and so its whole part by 1 at most.
SLUICE_HD Mass divided(Mass mass, std::uint64_t edges, std::uint64_t reciprocal) {
  const Mass quotient = multiply_high(mass, reciprocal);
  return quotient + (mass - quotient * edges >= edges ? 1 : 0);
}
inline std::uint64_t reciprocal_of(std::uint64_t edges) {
  return ~std::uint64_t{0} / edges;
}

/// Forward push to a tolerance: mass moves on from where there is so much for each edge; the bar is divided
/// whenever no vertex is above it.
inline constexpr Mass kFirstBar = kWholeMass / 1024;
inline constexpr Mass kBarStep = 4;

/// How the mass of a vertex splits: what goes on along its edges, and what it keeps as its score.
struct Continuation {
  std::uint64_t follow = 0;  ///< alpha in units of 2^-64
  bool coarse = false;       ///< of few units: one more matters

  static Continuation of(double alpha) { return {static_cast<std::uint64_t>(std::ldexp(alpha, 64))}; }
  /// alpha is a fraction of 2^bits, rounded down: a product with a mass of 32 bits has 32 + bits.
  static Continuation coarse_of(double alpha, int bits) {
    return {static_cast<std::uint64_t>(std::ldexp(alpha, bits)) << (64 - bits), true};
  }
  double alpha() const { return std::ldexp(static_cast<double>(follow), -64); }

  SLUICE_HD Mass followed(Mass mass) const { return multiply_high(mass, follow); }
  /// (1 - alpha) mass, rounded down; mass > 0. What is followed was rounded down, so the rest was not.
  SLUICE_HD Mass kept(Mass mass) const {
    const bool rounded = coarse ? mass * follow != 0 : follow != 0;
    return mass - followed(mass) - (rounded ? 1 : 0);
  }
};

/// What doubles may have been rounded up by in the two steps of a weighted split, and more.
inline constexpr double kBelow = 1 - 0x1p-50;

/// What a weight of 1 gets of `mass`; `total` is the sum of the list's weights, above 0.
SLUICE_HD double mass_per_weight(Mass mass, double total) {
  return static_cast<double>(mass) * kBelow / total;
}

/// What an edge of `weight` gets, rounded down.
SLUICE_HD Mass weighted_share(double per_weight, double weight) {
  return static_cast<Mass>(per_weight * weight);
}

}  // namespace sluice::ppr
