#include "engine/sampling/options.hpp"

#include <cmath>
#include <string>

#include "engine/core/error.hpp"

namespace sluice {

namespace {

/// For what has no use for another layout.
void require_plain(Layout layout, const char* who_reads) {
  if (layout != Layout::wide && layout != Layout::coded) return;
  throw UsageError(std::string("--layout ") + (layout == Layout::wide ? "wide: " : "coded: ") + who_reads +
                   " lists as they are; use csr or auto");
}

}  // namespace

void validate(const WalkOptions& options) {
  if (!(options.probability >= 0 && options.probability <= 1)) {
    throw UsageError("--probability: must lie between 0 and 1");
  }
  if (!(options.p > 0) || !std::isfinite(options.p)) throw UsageError("--p: must be positive and finite");
  if (!(options.q > 0) || !std::isfinite(options.q)) throw UsageError("--q: must be positive and finite");
  if (options.length > 0xfffffffeu) throw UsageError("--length: must be below 2^32 - 1");
  if (options.kind == WalkKind::biased && options.bias == Bias::none) {
    throw UsageError("--bias: a biased walk is biased by weight or degree (for none, use --kind uniform)");
  }
  if (options.kind == WalkKind::multidimensional && options.frontier_size == 0) {
    throw UsageError("--frontier-size: must be at least 1");
  }
  if (options.kind == WalkKind::multidimensional) require_plain(options.layout, "this walk reads");
}

void validate(const SampleOptions& options) {
  if (options.kind == SampleKind::forest_fire && !(options.probability >= 0 && options.probability < 1)) {
    throw UsageError("--probability: forest-fire needs a probability of at least 0 and below 1");
  }
  if (options.kind == SampleKind::neighbor && options.fanout.empty()) {
    throw UsageError("--fanout: neighbor needs one fanout a depth, for instance 15,10");
  }
  for (const std::int64_t fanout : options.fanout) {
    if (fanout < -1 || fanout == 0)
      throw UsageError("--fanout: each must be positive, or -1 for all neighbours");
  }
  if (options.kind == SampleKind::layer && options.layer_sizes.empty()) {
    throw UsageError("--layer-size: layer needs one size a depth, for instance 512,512");
  }
  for (const std::uint64_t size : options.layer_sizes) {
    if (size == 0) throw UsageError("--layer-size: each must be positive");
  }
  require_plain(options.layout, "samples read");
  const bool one_pass = options.kind == SampleKind::node || options.kind == SampleKind::edge;
  if (one_pass && options.count == 0) throw UsageError("--count: node and edge need a positive count");
  if (options.depth == 0 &&
      (options.kind == SampleKind::forest_fire || options.kind == SampleKind::snowball)) {
    throw UsageError("--depth: must be at least 1");
  }
  if (options.replace && options.kind != SampleKind::neighbor)
    throw UsageError("--replace: only for neighbor");
  if (options.revisit && one_pass)
    throw UsageError("--revisit: node and edge grow from nothing; leave it out");
}

}  // namespace sluice
