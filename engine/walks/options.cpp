#include "engine/walks/options.hpp"

#include <cmath>

#include "engine/core/error.hpp"

namespace sluice::walks {

void validate(const Options& options) {
  if (!(options.probability >= 0 && options.probability <= 1)) {
    throw UsageError("--probability: must lie between 0 and 1");
  }
  if (!(options.p > 0) || !std::isfinite(options.p)) throw UsageError("--p: must be positive and finite");
  if (!(options.q > 0) || !std::isfinite(options.q)) throw UsageError("--q: must be positive and finite");
  if (options.length > 0xfffffffeu) throw UsageError("--length: must be below 2^32 - 1");
  if (options.kind == Kind::biased && options.bias == Bias::none) {
    throw UsageError("--bias: a biased walk is biased by weight or degree (for none, use --kind uniform)");
  }
  if (options.kind == Kind::multidimensional && options.frontier_size == 0) {
    throw UsageError("--frontier-size: must be at least 1");
  }
  if (options.kind == Kind::multidimensional) require_plain_layout(options.layout, "this walk reads");
}

}  // namespace sluice::walks
