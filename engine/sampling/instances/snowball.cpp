// Snowball sampling, compiled: for the host, and for the GPU where CUDA is built.
#include "engine/samples/kinds/snowball.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"

#include <algorithm>

#include "engine/samples/sample.hpp"
#include "engine/sampling/builtin_samples.hpp"

namespace sluice::sampling {

RunStats run_snowball(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                      SampleSink* sink) {
  const samples::SnowballSample sampler{options.depth};
  const Bias bias = Bias::none;
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return samples::SampleRun<samples::SnowballSample>(graph, tables, bias == Bias::none, sampler, starts,
                                                     options, sink)
      .run();
}

}  // namespace sluice::sampling
