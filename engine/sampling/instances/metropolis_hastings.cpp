// The metropolis-hastings walk, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/walks/kinds/metropolis_hastings.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

#include "engine/sampling/builtin_walks.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

RunStats run_metropolis_hastings(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                                 WalkSink* sink) {
  const walks::MetropolisHastingsWalk sampler{};
  BiasTables& tables = graph.impl().named[static_cast<int>(Bias::none)];
  return walks::WalkRun<walks::MetropolisHastingsWalk>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace sluice::sampling
