// What the files share that compile a built-in walk.
#pragma once

#include "engine/sampling/builtin_walks.hpp"
#include "engine/walks/walk.hpp"

namespace sluice::sampling {

/// Walks by the tables that the graph keeps for a bias.
template <class Walk>
RunStats run_compiled(ResidentGraph& graph, Bias bias, const Walk& sampler, const Starts& starts,
                      const walks::Options& options, WalkSink* sink) {
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return walks::WalkRun<Walk>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace sluice::sampling
