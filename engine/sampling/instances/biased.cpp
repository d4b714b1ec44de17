// The biased walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/biased.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

#include "engine/sampling/builtin_walks.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_biased(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                    WalkSink* sink) {
  const Bias bias = graph.impl().effective(options.bias);
  const walks::BiasedWalk sampler{{bias}};
  if (bias == Bias::none && options.select == Select::automatic)
    return run_uniform(graph, starts, options, sink);
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return walks::WalkRun<walks::BiasedWalk>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace sluice::sampling
