// The multidimensional walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/sampling/walks/multidimensional.hpp"

#include "engine/sampling/builtin_walks.hpp"
#include "engine/sampling/pool.hpp"

namespace sluice {

RunStats run_multidimensional(ResidentGraph& graph, const Starts& starts, const WalkOptions& options,
                              WalkSink* sink) {
  return run_pool(graph, starts, MultidimensionalWalk{options.frontier_size}, options, sink);
}

}  // namespace sluice
