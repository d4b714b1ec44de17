// The metropolis-hastings walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/walks/kinds/metropolis_hastings.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_metropolis_hastings(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                                 WalkSink* sink) {
  return walks::run_walk(graph, Bias::none, walks::MetropolisHastingsWalk{}, starts, options, sink);
}

}  // namespace sluice::sampling
