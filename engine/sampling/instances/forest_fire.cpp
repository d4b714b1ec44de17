// ForestFire sampling, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/kinds/forest_fire.hpp"
#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_forest_fire(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                         SampleSink* sink) {
  samples::ForestFireSample sampler{};
  sampler.bias = graph.impl().effective(options.bias);
  sampler.depths = options.depth;
  sampler.success = Probability::of(options.probability);
  return samples::run_sample(graph, sampler.bias, sampler, starts, options, sink);
}

}  // namespace sluice::sampling
