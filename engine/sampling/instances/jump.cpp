// The jump walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/jump.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_jump(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink) {
  return walks::run_walk(graph, Bias::none, walks::JumpWalk{Probability::of(options.probability)}, starts,
                         options, sink);
}

}  // namespace sluice::sampling
