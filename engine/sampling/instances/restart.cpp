// The restart walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/walks/kinds/restart.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_restart(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                     WalkSink* sink) {
  return walks::run_walk(graph, Bias::none, walks::RestartWalk{Probability::of(options.probability)}, starts,
                         options, sink);
}

}  // namespace sluice::sampling
