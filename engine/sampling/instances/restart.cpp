// The restart walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/restart.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

#include "engine/sampling/builtin_walks.hpp"
#include "engine/walks/walk.hpp"

namespace sluice {

RunStats run_restart(ResidentGraph& graph, const Starts& starts, const WalkOptions& options, WalkSink* sink) {
  const RestartWalk sampler{Probability::of(options.probability)};
  BiasTables& tables = graph.impl().named[static_cast<int>(Bias::none)];
  return WalkRun<RestartWalk>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace sluice
