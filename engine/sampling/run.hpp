// Runs the built-in kinds: chooses technique, layout and batch size, runs the batches and streams results to
// a sink. The technique depends on the kind and its options alone, never on memory or hardware:
//
//   uniform, metropolis-hastings, jump, restart   an index; no table
//   biased                     alias
//   node2vec                   rejection, 64 trials, then inverse transform; alias by the weights, if any
//   multidimensional           inverse transform over the pool, then an index; no table
//   neighbor, forest-fire      bipartite region search over a CTPS; no table without bias
//   neighbor --replace         alias; an index without bias
//   snowball                   nothing is drawn
//   dynamic, distinct          as neighbor, over a CTPS that is built when a vertex is expanded
//   dynamic, replacement()     rejection by the bound, 64 trials, then inverse transform; without a bound
//                              inverse transform
//   layer                      inverse transform on two levels, clashes by bipartite search
//   node, edge                 the first distinct values of a sequence of indices
//
// Table bytes per edge: alias 12 (32 in the wide layout, with the target's row), CTPS 8.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"
#include "engine/walks/options.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice::sampling {

/// Runs random walks. `sink` may be null: results are then dropped on the device (benchmarks). Throws
/// UsageError for invalid options, InputError for starts out of range, BudgetError if the run cannot fit.
RunStats run_walks(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink);

/// Runs layer, traversal-based and one-pass samples; `sink` and errors as for run_walks.
RunStats run_samples(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                     SampleSink* sink);

/// The plan of one rank of a sharded graph.
struct RankPlan {
  std::uint64_t first = 0, last = 0;  ///< its partitions, [first, last)
  std::uint64_t slots = 0;            ///< slots of its device
  std::uint64_t device_bytes = 0;
  double transferred_bytes = 0;  ///< bytes transferred to its device or read from its file, estimated
};

/// The need of a job, computed without running it.
struct RunPlan {
  std::uint64_t graph_bytes = 0;  ///< edges, offsets, weights on the device
  std::uint64_t table_bytes = 0;  ///< derived tables of the chosen layout
  std::uint64_t batch_bytes = 0;  ///< smallest possible batch
  std::uint64_t device_bytes_needed = 0;
  std::optional<PartitionPlan> partitions;  ///< partitions of the graph; none: the run keeps it whole
  std::uint64_t slots = 0;                  ///< slots of the device
  double transferred_bytes = 0;             ///< bytes of partitions transferred to the device, estimated
  std::vector<RankPlan> by_rank;            ///< plans of the ranks, if they shard the graph
  bool all_resident = false;  ///< true if every such rank keeps all its partitions resident during the run
  /// The most bytes of one sample if its size is not known beforehand, else 0.
  std::uint64_t largest_sample_bytes = 0;
  std::uint64_t result_bytes = 0;  ///< size of the output if known beforehand (walks), else 0
  std::uint64_t check_bytes = 0;   ///< host memory to check the results; the caller sets it
  Layout layout = Layout::csr;
  Select select = Select::automatic;

  /// True if lists stay on the device after their first transfer; partitions do if there are more slots.
  bool holds_lists() const {
    const std::uint64_t own_partitions = !by_rank.empty() ? by_rank[0].last - by_rank[0].first
                                         : partitions     ? partitions->size()
                                                          : 0;
    return !partitions || all_resident || slots > own_partitions;
  }
};
/// Plans a job. If ranks shard the graph, all of them call it and agree on the plan as the run does. In
/// partitions, the size of samples may be a guess: a run that needs more memory for them continues with
/// smaller partitions.
RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts,
                   const walks::Options& options, const PagingOptions& paging = {});
RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const samples::Options& options, const PagingOptions& paging = {});

}  // namespace sluice::sampling
