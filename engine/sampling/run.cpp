#include "engine/sampling/run.hpp"

#include <utility>

#include "engine/core/error.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/builtin.hpp"
#include "engine/sampling/whole_plan.hpp"

namespace sluice::sampling {

namespace {

/// True if the run may cut the graph into partitions; the wide layout exists on whole graphs only.
bool may_partition(const ResidentGraph& graph, const RunOptions& options) {
  const ResidentGraph::Impl& impl = graph.impl_while_reading();
  return !impl.paged && impl.paging.partitions != 1 && !impl.paging.shard && options.layout != Layout::wide;
}

template <class Options, class Sink>
RunStats run_whole_or_partitioned(ResidentGraph& graph, const Starts& starts, const Options& options,
                                  Sink* sink) {
  validate(options);
  ResidentGraph::Impl& impl = graph.impl_while_reading();
  if (may_partition(graph, options))
    impl.partition_unless_fits(whole_bytes(graph.device(), graph.graph(), starts, options));
  RunStats stats = run_kind(graph, starts, options, sink);
  stats.load_seconds += std::exchange(impl.load_seconds, 0);  // counts for the first run only
  return stats;
}

}  // namespace

RunStats run_kind(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink) {
  switch (options.kind) {
    case walks::Kind::uniform:
      return run_uniform(graph, starts, options, sink);
    case walks::Kind::biased:
      return run_biased(graph, starts, options, sink);
    case walks::Kind::metropolis_hastings:
      return run_metropolis_hastings(graph, starts, options, sink);
    case walks::Kind::jump:
      return run_jump(graph, starts, options, sink);
    case walks::Kind::restart:
      return run_restart(graph, starts, options, sink);
    case walks::Kind::node2vec:
      return run_node2vec(graph, starts, options, sink);
    case walks::Kind::multidimensional:
      return run_multidimensional(graph, starts, options, sink);
  }
  throw UsageError("--kind: unknown walk");
}

RunStats run_kind(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink) {
  switch (options.kind) {
    case samples::Kind::neighbor:
      return run_neighbor(graph, starts, options, sink);
    case samples::Kind::forest_fire:
      return run_forest_fire(graph, starts, options, sink);
    case samples::Kind::snowball:
      return run_snowball(graph, starts, options, sink);
    case samples::Kind::layer:
      return run_layer(graph, starts, options, sink);
    case samples::Kind::node:
      return run_node(graph, starts, options, sink);
    case samples::Kind::edge:
      return run_edge(graph, starts, options, sink);
  }
  throw UsageError("--kind: unknown sample");
}

RunStats run_walks(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                   WalkSink* sink) {
  return run_whole_or_partitioned(graph, starts, options, sink);
}

RunStats run_samples(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                     SampleSink* sink) {
  return run_whole_or_partitioned(graph, starts, options, sink);
}

}  // namespace sluice::sampling
