// The uniform walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/walks/kinds/uniform.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_uniform(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                     WalkSink* sink) {
  return walks::run_walk(graph, Bias::none, walks::UniformWalk{}, starts, options, sink);
}

}  // namespace sluice::sampling
