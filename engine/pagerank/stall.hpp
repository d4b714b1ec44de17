// Detects that the changes of iterations no longer shrink.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/pagerank/options.hpp"

namespace sluice::pagerank {

/// Watches the residuals of a run.
class StallDetector {
 public:
  /// Computes the L1 change that rounding alone can sustain, from the bounds of share.hpp and fixed_rank.hpp.
  /// Above it changes still shrink, whatever the last iterations did (linf may grow for a while as rank
  /// gathers).
  StallDetector(const Options& options, std::uint64_t edges, std::uint64_t vertices) {
    const double per_share = options.precision == RankPrecision::f32 ? 0x1p-24 : 0;
    const double iteration = per_share + static_cast<double>(edges + vertices) * 0x1p-63 + 0x1p-51;
    floor_ = 2 * iteration / (1 - options.damping);
  }

  /// The L1 change above which no iteration counts as stalled.
  double floor() const { return floor_; }

  bool stalled_after(double residual, double l1) {
    if (residual < best_) {
      best_ = residual;
      idle_ = 0;
      return false;
    }
    return ++idle_ >= kTimeout && l1 <= floor_;
  }

 private:
  /// After this many iterations without a new smallest residual, none is expected. In exact arithmetic the L1
  /// norm of the change shrinks by the damping in every iteration, and the other norms follow. So a change
  /// that no longer shrinks is rounding, and a tolerance finer than the precision is never reached.
  static constexpr std::uint32_t kTimeout = 32;

  double floor_;
  double best_ = std::numeric_limits<double>::infinity();
  std::uint32_t idle_ = 0;
};

}  // namespace sluice::pagerank
