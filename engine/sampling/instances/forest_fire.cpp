// ForestFire sampling, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/samples/kinds/forest_fire.hpp"
#include "engine/sampling/instances/compiled_sample.hpp"

namespace sluice::sampling {

RunStats run_forest_fire(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                         SampleSink* sink) {
  samples::ForestFireSample sampler{};
  sampler.bias = graph.impl().effective(options.bias);
  sampler.depths = options.depth;
  sampler.success = Probability::of(options.probability);
  return run_compiled(graph, sampler.bias, sampler, starts, options, sink);
}

}  // namespace sluice::sampling
