// The biased walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/walks/kinds/biased.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_biased(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                    WalkSink* sink) {
  const Bias bias = graph.impl_while_reading().effective(options.bias);
  const walks::BiasedWalk sampler{{bias}};
  if (bias == Bias::none && options.select == Select::automatic)
    return run_uniform(graph, starts, options, sink);
  return walks::run_walk(graph, bias, sampler, starts, options, sink);
}

}  // namespace sluice::sampling
