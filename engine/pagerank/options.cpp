#include "engine/pagerank/options.hpp"

#include <cmath>

#include "engine/core/error.hpp"

namespace sluice::pagerank {

void validate(const Options& options) {
  if (!(options.damping >= 0 && options.damping < 1)) {
    throw UsageError("--damping: must be at least 0 and below 1");
  }
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance)) {
    throw UsageError("--tolerance: must be finite and not negative");
  }
  if (options.max_iterations == 0) throw UsageError("--max-iterations: must be at least 1");
  if (options.weighted && options.precision == RankPrecision::f32) {
    throw UsageError("--precision f32: cannot be combined with --weighted (omit one of them)");
  }
}

}  // namespace sluice::pagerank
