// The node2vec walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/node2vec.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

#include "engine/sampling/builtin_walks.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_node2vec(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                      WalkSink* sink) {
  const walks::Node2vecWalk sampler(options.p, options.q);
  BiasTables& tables = graph.impl().named[static_cast<int>(Bias::weight)];
  return walks::WalkRun<walks::Node2vecWalk>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace sluice::sampling
