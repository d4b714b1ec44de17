// Snowball sampling, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/kinds/snowball.hpp"
#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_snowball(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                      SampleSink* sink) {
  return samples::run_sample(graph, Bias::none, samples::SnowballSample{options.depth}, starts, options,
                             sink);
}

}  // namespace sluice::sampling
