// The jump walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/jump.hpp"
#include "engine/sampling/instances/compiled_walk.hpp"

namespace sluice::sampling {

RunStats run_jump(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink) {
  return run_compiled(graph, Bias::none, walks::JumpWalk{Probability::of(options.probability)}, starts,
                      options, sink);
}

}  // namespace sluice::sampling
