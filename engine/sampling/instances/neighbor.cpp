// Neighbor sampling, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/kinds/neighbor.hpp"

#include <algorithm>

#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_neighbor(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                      SampleSink* sink) {
  samples::NeighborSample sampler{};
  if (options.fanout.size() > samples::NeighborSample::kMaxDepth)
    throw UsageError("--fanout: at most 64 depths");
  sampler.bias = graph.impl().effective(options.bias);
  sampler.depths = static_cast<std::uint32_t>(options.fanout.size());
  sampler.replace = options.replace;
  std::copy(options.fanout.begin(), options.fanout.end(), sampler.fanout);
  return samples::run_sample(graph, sampler.bias, sampler, starts, options, sink);
}

}  // namespace sluice::sampling
