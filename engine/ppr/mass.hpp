// Probability mass as integers, so that sums do not depend on their order.
//
// A query's mass is 1 = 2^63 units. Every product and quotient is rounded down, and the results are only
// added. Scores are therefore identical to the bit for any order of additions: any threads, batches, ranks
// and backends. No score exceeds the true one. True scores sum to 1, since no mass is lost: that of a vertex
// without out-edges returns. The scores of a query therefore miss exactly 1 minus their sum, rounding
// included. This error needs no analysis.
//
// Rounding loses at most one unit per split of a vertex, one per part that it keeps, and one per edge. A
// diffusion over m edges in L steps loses at most 3 m L units, and less because mass decays: 5e-13 for a
// million edges at alpha 0.85. Weighted shares are split in double, rounded down by a relative 2^-50.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/core/macros.hpp"
#include "engine/random/uniform.hpp"

namespace sluice::ppr {

/// Mass in units of 2^-63.
using Mass = std::uint64_t;
/// Stored mass of a query with fewer than 2^32 units (MassUnits). It cannot overflow: mass is subtracted in
/// one place before it is added in others, and parts are rounded down. All scores of a query together never
/// exceed its units; nor do all residuals, or all mass in motion. Other sums have 64 bits.
using CoarseMass = std::uint32_t;

inline constexpr Mass kWholeMass = Mass{1} << 63;

/// The nearest double.
SLUICE_HD double from_mass(Mass mass) {
  return static_cast<double>(mass) * 0x1p-63;
}

/// The bits of a double. Positive doubles have the same order as their bits.
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

/// Units of a query's mass: 2^63, or a number that fits 32 bits.
struct MassUnits {
  Mass whole = kWholeMass;
  double one = 0x1p-63;

  /// `units` = 0 means 2^63.
  SLUICE_HD static MassUnits of(Mass units) {
    return units == 0 ? MassUnits{} : MassUnits{units, 1.0 / static_cast<double>(units)};
  }
  /// `degree` units per vertex of a ball, but at least 1 and at most 2^32 - 1 in total.
  SLUICE_HD static MassUnits of_ball(std::uint64_t degree, std::uint64_t vertices) {
    constexpr Mass kMost = ~std::uint32_t{0};
    if (degree > kMost / vertices) return of(kMost);
    return of(degree == 0 ? 1 : degree * vertices);
  }
  SLUICE_HD double share(Mass mass) const { return static_cast<double>(mass) * one; }
  /// Rounded down; 0 <= share <= 1.
  SLUICE_HD Mass mass(double share) const { return static_cast<Mass>(share * static_cast<double>(whole)); }
};

/// True if `mass` is at least `threshold` per edge; without edges, if it is at least `threshold`.
SLUICE_HD bool reaches(Mass mass, Mass threshold, std::uint64_t edges) {
  if (edges == 0) return mass >= threshold;
  return multiply_high(threshold, edges) == 0 && mass >= threshold * edges;
}

/// mass / edges, faster than a division on a GPU; `reciprocal` is reciprocal_of(edges), edges > 0. The
/// product with the reciprocal misses the quotient by less than 1, and so its integer part by at most 1.
SLUICE_HD Mass divided(Mass mass, std::uint64_t edges, std::uint64_t reciprocal) {
  const Mass quotient = multiply_high(mass, reciprocal);
  return quotient + (mass - quotient * edges >= edges ? 1 : 0);
}
inline std::uint64_t reciprocal_of(std::uint64_t edges) {
  return ~std::uint64_t{0} / edges;
}

/// Forward push to a tolerance: a vertex pushes when its residual per out-edge reaches the threshold. This is
/// divided by kThresholdStep when no vertex reaches it.
inline constexpr Mass kFirstThreshold = kWholeMass / 1024;
inline constexpr Mass kThresholdStep = 4;

/// How a vertex splits its mass: one part follows its edges, the rest becomes its score.
struct Continuation {
  std::uint64_t follow = 0;  ///< alpha in units of 2^-64
  bool coarse = false;       ///< mass has few units, so that one unit matters

  static Continuation of(double alpha) { return {static_cast<std::uint64_t>(std::ldexp(alpha, 64))}; }
  /// alpha is rounded down to a multiple of 2^-bits: its product with a 32-bit mass has 32 + bits bits.
  static Continuation coarse_of(double alpha, int bits) {
    return {static_cast<std::uint64_t>(std::ldexp(alpha, bits)) << (64 - bits), true};
  }
  double alpha() const { return std::ldexp(static_cast<double>(follow), -64); }

  SLUICE_HD Mass followed(Mass mass) const { return multiply_high(mass, follow); }
  /// (1 - alpha) mass, rounded down; mass > 0. followed() is rounded down, so the difference is too large.
  SLUICE_HD Mass kept(Mass mass) const {
    const bool rounded = coarse ? mass * follow != 0 : follow != 0;
    return mass - followed(mass) - (rounded ? 1 : 0);
  }
};

/// Offsets what doubles may round up in the two steps of a weighted split, with a margin.
inline constexpr double kBelow = 1 - 0x1p-50;

/// The sum of a list's weights, always added in the order of the list.
SLUICE_HD double sum_of_weights(const float* weights, std::uint64_t count) {
  double total = 0;
  for (std::uint64_t i = 0; i < count; ++i) total += static_cast<double>(weights[i]);
  return total;
}

/// The mass for a weight of 1; `total` is the sum of the list's weights, above 0.
SLUICE_HD double mass_per_weight(Mass mass, double total) {
  return static_cast<double>(mass) * kBelow / total;
}

/// The mass for an edge of `weight`, rounded down.
SLUICE_HD Mass weighted_share(double per_weight, double weight) {
  return static_cast<Mass>(per_weight * weight);
}

}  // namespace sluice::ppr
