// What the files share that compile built-in samples by levels.
#pragma once

#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin_samples.hpp"

namespace sluice::sampling {

/// Samples by the tables that the graph keeps for a bias.
template <class Sample>
RunStats run_compiled(ResidentGraph& graph, Bias bias, const Sample& sampler, const Starts& starts,
                      const samples::Options& options, SampleSink* sink) {
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return samples::SampleRun<Sample>(graph, tables, bias == Bias::none, sampler, starts, options, sink).run();
}

}  // namespace sluice::sampling
