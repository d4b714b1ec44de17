// The inputs and outputs of a run over instances, for the code that computes them.
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice {

/// A run over instances. Keeps references.
template <class Sink, class Options = RunOptions>
struct InstanceRun {
  InstanceRun(ResidentGraph::Impl& run_graph, const Starts& starts, const Options& run_options, Sink* results,
              RunStats& run_stats)
      : graph(run_graph), options(run_options), sink(results), stats(run_stats) {
    const std::uint64_t n = graph.view.vertices();
    range = std::derived_from<Sink, SampleSink>
                ? starts.sample_range(n, options.first_instance, options.last_instance)
                : starts.range(n, options.first_instance, options.last_instance);
  }

  ResidentGraph::Impl& graph;
  const Options& options;
  Sink* sink;  ///< null: results are dropped on the device
  RunStats& stats;
  InstanceRange range;

  std::uint64_t instances() const { return range.end - range.begin; }
  /// True if the run has no instances, and no part in those of other ranks.
  bool idle() const { return range.begin == range.end && !graph.paging.shard; }
};

}  // namespace sluice
