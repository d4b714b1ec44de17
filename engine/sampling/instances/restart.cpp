// The restart walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/restart.hpp"
#include "engine/sampling/instances/compiled_walk.hpp"

namespace sluice::sampling {

RunStats run_restart(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                     WalkSink* sink) {
  return run_compiled(graph, Bias::none, walks::RestartWalk{Probability::of(options.probability)}, starts,
                      options, sink);
}

}  // namespace sluice::sampling
