// The node2vec walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/walks/kinds/node2vec.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_node2vec(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                      WalkSink* sink) {
  return walks::run_walk(graph, Bias::weight, walks::Node2vecWalk(options.p, options.q), starts, options,
                         sink);
}

}  // namespace sluice::sampling
