// Runs the built-in kinds: chooses technique, layout and wave size, drives the waves, streams to a sink.
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

namespace sluice {

/// Random walks. `sink` may be null: results are made and dropped on the device (benchmarks).
/// Throws UsageError for options, InputError for starts out of range, BudgetError where it cannot fit.
RunStats run_walks(ResidentGraph& graph, const Starts& starts, const WalkOptions& options, WalkSink* sink);

/// Traversal-based and one-pass sampling; otherwise as run_walks.
RunStats run_samples(ResidentGraph& graph, const Starts& starts, const SampleOptions& options,
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
  std::uint64_t wave_bytes = 0;   ///< smallest possible wave
  std::uint64_t device_bytes_needed = 0;
  std::optional<PartitionPlan> partitions;  ///< where the graph would be cut; none: it is worked on whole
  std::uint64_t slots = 0;                  ///< partitions on the device at once
  double brought_bytes = 0;                 ///< partitions to the device, about
  std::vector<RankPlan> by_rank;            ///< where ranks share out the graph
  bool holds_all = false;  ///< of these: every one holds all of its partitions from start to end
  /// Of one sample, at most, where its size is not known beforehand; else 0.
  std::uint64_t largest_sample_bytes = 0;
  std::uint64_t result_bytes = 0;  ///< size of the output where it is known beforehand (walks), else 0
  Layout layout = Layout::csr;
  Select select = Select::automatic;
};
/// Where ranks share out the graph, all of them call it: they agree on the plan as the run does.
/// In partitions, samples whose size is not known beforehand start with a guess: a run that needs more of the
/// memory for them goes on with smaller partitions.
RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts, const WalkOptions& options,
                   const PagingOptions& paging = {});
RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const SampleOptions& options, const PagingOptions& paging = {});

}  // namespace sluice
