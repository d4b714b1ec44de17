// The multidimensional walk, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/kinds/multidimensional.hpp"
#include "engine/samples/pool/pool.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_multidimensional(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                              WalkSink* sink) {
  return samples::run_pool(graph, starts, samples::MultidimensionalWalk{options.frontier_size},
                           options.length, options, sink);
}

}  // namespace sluice::sampling
