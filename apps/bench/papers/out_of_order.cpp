#include "apps/bench/papers/out_of_order.hpp"

#include <algorithm>

#include "apps/bench/papers/out_of_order_grower.hpp"
#include "engine/core/error.hpp"
#include "engine/samples/kinds/forest_fire.hpp"
#include "engine/samples/kinds/neighbor.hpp"
#include "engine/samples/sample.hpp"

namespace sluice::bench::papers {

RunStats run_out_of_order(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                          SampleSink* sink) {
  samples::validate(options);
  const auto run = [&](const auto& sampler) {
    return samples::run_sample<OutOfOrderGrower>(graph, sampler.bias, sampler, starts, options, sink);
  };
  const Bias bias = graph.impl().effective(options.bias);
  if (options.kind == samples::Kind::forest_fire)
    return run(samples::ForestFireSample{{bias}, options.depth, Probability::of(options.probability)});
  const auto depths = static_cast<std::uint32_t>(options.fanout.size());
  if (options.kind != samples::Kind::neighbor || depths > samples::NeighborSample::kMaxDepth)
    throw UsageError("out of order: only neighbor samples of at most 64 depths, and forest fires");
  samples::NeighborSample sampler{{bias}, depths, options.replace};
  std::ranges::copy(options.fanout, sampler.fanout);
  return run(sampler);
}

}  // namespace sluice::bench::papers
