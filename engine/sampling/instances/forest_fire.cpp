// ForestFire sampling, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/samples/kinds/forest_fire.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"

#include <algorithm>

#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin_samples.hpp"

namespace sluice::sampling {

RunStats run_forest_fire(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                         SampleSink* sink) {
  samples::ForestFireSample sampler{};
  sampler.bias = graph.impl().effective(options.bias);
  sampler.depths = options.depth;
  sampler.success = Probability::of(options.probability);
  const Bias bias = sampler.bias;
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return samples::SampleRun<samples::ForestFireSample>(graph, tables, bias == Bias::none, sampler, starts,
                                                       options, sink)
      .run();
}

}  // namespace sluice::sampling
