// Runs the built-in kinds: chooses technique, layout and batch size, runs the batches, streams to a sink.
//
// The technique follows from the kind and its options alone, never from memory or hardware:
//
//   uniform, metropolis-hastings, jump, restart   an index; no table
//   biased                     alias
//   node2vec                   rejection, 64 trials, then inverse transform; alias of the weights, if any
//   multidimensional           inverse transform over the pool, then an index; no table
//   neighbor, forest-fire      bipartite region search over a CTPS; no table without bias
//   neighbor --replace         alias; an index without bias
//   snowball                   nothing is drawn
//   dynamic, distinct          as neighbor, over a CTPS that is made when a vertex is expanded
//   dynamic, replacement()     rejection below the bound, 64 trials, then inverse transform; without a bound
//                              inverse transform
//   layer                      inverse transform on two levels, clashes by bipartite search
//   node, edge                 the first distinct values of a sequence of indices
//
// Bytes an edge: alias 12 (32 wide, with the target's row), CTPS 8.
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

/// Random walks. `sink` may be null: results are made and dropped on the device (benchmarks).
/// Throws UsageError for options, InputError for starts out of range, BudgetError where it cannot fit.
RunStats run_walks(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink);

/// Traversal-based and one-pass sampling; otherwise as run_walks.
RunStats run_samples(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                     SampleSink* sink);

/// What one of the ranks that share out a graph would take.
struct RankPlan {
  std::uint64_t first = 0, last = 0;  ///< its partitions, [first, last)
  std::uint64_t slots = 0;            ///< partitions on its device at once
  std::uint64_t device_bytes = 0;
  double brought_bytes = 0;  ///< to its device or from its file, about
};

/// What a job would take, without running it.
struct RunPlan {
  std::uint64_t graph_bytes = 0;  ///< edges, offsets, weights on the device
  std::uint64_t table_bytes = 0;  ///< derived tables of the layout that would be taken
  std::uint64_t batch_bytes = 0;  ///< smallest possible batch
  std::uint64_t device_bytes_needed = 0;
  std::optional<PartitionPlan> partitions;  ///< where the graph would be cut; none: it is worked on whole
  std::uint64_t slots = 0;                  ///< partitions on the device at once
  double brought_bytes = 0;                 ///< partitions to the device, about
  std::vector<RankPlan> by_rank;            ///< where ranks share out the graph
  bool holds_all = false;  ///< of these: every one holds all of its partitions from start to end
  /// Of one sample, at most, where its size is not known beforehand; else 0.
  std::uint64_t largest_sample_bytes = 0;
  std::uint64_t result_bytes = 0;  ///< size of the output where it is known beforehand (walks), else 0
  std::uint64_t check_bytes = 0;   ///< of host memory, what checks the results: the caller's
  Layout layout = Layout::csr;
  Select select = Select::automatic;

  /// Do lists stay on the device that they came to? In partitions they do where it has a slot more than that.
  bool holds_lists() const {
    const std::uint64_t own = !by_rank.empty() ? by_rank[0].last - by_rank[0].first
                              : partitions     ? partitions->size()
                                               : 0;
    return !partitions || holds_all || slots > own;
  }
};
/// Where ranks share out the graph, all of them call it: they agree on the plan as the run does.
/// In partitions, samples whose size is not known beforehand start with a guess: a run that needs more of the
/// memory for them goes on with smaller partitions.
RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts,
                   const walks::Options& options, const PagingOptions& paging = {});
RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const samples::Options& options, const PagingOptions& paging = {});

}  // namespace sluice::sampling
