// Layer sampling, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/kinds/layer.hpp"

#include <algorithm>

#include "engine/samples/layer/layer.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_layer(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                   SampleSink* sink) {
  samples::LayerSample sampler{};
  if (options.layer_sizes.size() > samples::LayerSample::kMaxDepth)
    throw UsageError("--layer-size: at most 64 depths");
  sampler.bias = graph.impl().effective(options.bias);
  sampler.depths = static_cast<std::uint32_t>(options.layer_sizes.size());
  std::copy(options.layer_sizes.begin(), options.layer_sizes.end(), sampler.sizes);
  BiasTables& tables = graph.impl().named[static_cast<int>(sampler.bias)];
  return run_layer(graph, tables, starts, sampler, options, sink);
}

}  // namespace sluice::sampling
