// When changes no longer shrink.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/pagerank/options.hpp"

namespace sluice::pagerank {

/// Watches the residuals.
class Stall {
 public:
  /// Takes the bounds of share.hpp and fixed_rank.hpp on what rounding alone can keep changing, in L1. Above
  /// it changes shrink whatever the last iterations did (linf may grow for a while, as rank gathers).
  Stall(const Options& options, std::uint64_t edges, std::uint64_t vertices) {
    const double per_share = options.precision == RankPrecision::f32 ? 0x1p-24 : 0;
    const double iteration = per_share + static_cast<double>(edges + vertices) * 0x1p-63 + 0x1p-51;
    floor_ = 2 * iteration / (1 - options.damping);
  }

  /// Above so large a change no iteration is one that has stalled.
  double floor() const { return floor_; }

  bool seen(double residual, double l1) {
    if (residual < best_) {
      best_ = residual;
      idle_ = 0;
      return false;
    }
    return ++idle_ >= kTimeout && l1 <= floor_;
  }

 private:
  /// Iterations without a change smaller than all before, after which no smaller one is expected. With exact
  /// arithmetic the L1 norm of the change shrinks by the damping in every iteration, and the others follow
  /// it; so what no longer shrinks is rounding, which a finer tolerance than the precision allows never gets
  /// below.
  static constexpr std::uint32_t kTimeout = 32;

  double floor_;
  double best_ = std::numeric_limits<double>::infinity();
  std::uint32_t idle_ = 0;
};

}  // namespace sluice::pagerank
