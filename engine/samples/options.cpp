#include "engine/samples/options.hpp"

#include "engine/core/error.hpp"

namespace sluice::samples {

void validate(const Options& options) {
  if (options.kind == Kind::forest_fire && !(options.probability >= 0 && options.probability < 1)) {
    throw UsageError("--probability: forest-fire needs a probability of at least 0 and below 1");
  }
  if (options.kind == Kind::neighbor && options.fanout.empty()) {
    throw UsageError("--fanout: neighbor needs one fanout per depth, for instance 15,10");
  }
  for (const std::int64_t fanout : options.fanout) {
    if (fanout < -1 || fanout == 0)
      throw UsageError("--fanout: each must be positive, or -1 for all neighbours");
  }
  if (options.kind == Kind::layer && options.layer_sizes.empty()) {
    throw UsageError("--layer-size: layer needs one size per depth, for instance 512,512");
  }
  for (const std::uint64_t size : options.layer_sizes) {
    if (size == 0) throw UsageError("--layer-size: each must be positive");
  }
  const bool one_pass = options.kind == Kind::node || options.kind == Kind::edge;
  if (one_pass || options.kind == Kind::layer || options.layout == Layout::wide)
    require_plain_layout(options.layout, "this sample reads");
  if (one_pass && options.count == 0) throw UsageError("--count: node and edge need a positive count");
  if (options.depth == 0 && (options.kind == Kind::forest_fire || options.kind == Kind::snowball)) {
    throw UsageError("--depth: must be at least 1");
  }
  if (options.replace && options.kind != Kind::neighbor) throw UsageError("--replace: only for neighbor");
  if (options.revisit && one_pass)
    throw UsageError("--revisit: node and edge samples do not expand vertices; omit it");
}

}  // namespace sluice::samples
