// Runs the built-in kinds: chooses technique, layout and wave size, drives the waves, streams to a sink.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/balance.hpp"
#include "engine/memory/paging.hpp"
#include "engine/sampling/options.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// What a run did, for the report.
struct RunStats {
  Instance instances = 0;
  std::uint64_t steps = 0;          ///< walks: steps taken (moves, stays, jumps); multidimensional: edges
  std::uint64_t sampled_edges = 0;  ///< samples: edges recorded; walks: the same as steps
  double load_seconds = 0;          ///< graph to the device
  double table_seconds = 0;         ///< derived tables (alias, CTPS, wide edges)
  double compute_seconds = 0;       ///< the sampling itself (on a GPU: its kernels)
  double transfer_seconds = 0;      ///< results to the host
  double write_seconds = 0;         ///< waiting for the sink
  std::uint64_t host_to_device_bytes = 0;
  std::uint64_t device_to_host_bytes = 0;
  std::uint64_t mapped_bytes = 0;         ///< that draws looked at in place (select/read_bytes.hpp)
  std::uint64_t read_bytes = 0;           ///< from the graph file, while running
  std::uint64_t partitions = 1;           ///< that the graph was cut into
  std::uint64_t partition_transfers = 0;  ///< partitions brought to the device
  std::uint64_t rounds = 0;               ///< of work on what was there
  std::uint64_t entries_sent = 0;         ///< shard: walks, lists, questions or edges for other ranks
  std::uint64_t entries_received = 0;     ///< and that came from them
  double exchange_seconds = 0;            ///< GPUs handing each other work, walks partly while they step
  std::uint64_t exchanged_bytes = 0;      ///< sent from GPU to GPU
  std::uint64_t mapped_rounds = 0;        ///< rounds that read some partitions in place
  std::uint64_t waves = 0;
  std::uint64_t selections = 0;            ///< picks made
  std::uint64_t selection_iterations = 0;  ///< trials, redraws and first choices together
  std::uint64_t collision_searches = 0;    ///< comparisons or bitmap probes
  std::uint64_t kernel_launches = 0;
  KernelTimes kernels;                ///< of partitions side by side, where each has its share
  Select select = Select::automatic;  ///< the technique taken
  Layout layout = Layout::csr;        ///< the layout taken
};

/// A graph where the device can reach it, with the tables derived from it, made when first needed and kept.
/// Where its edges do not fit the device (or `paging` asks for it) they stay where they are, and runs bring
/// them in partitions. Keeps references to device and graph. Throws BudgetError where not even that fits.
class ResidentGraph {
 public:
  ResidentGraph(Device& device, const Graph& graph, const PagingOptions& paging = {});
  ~ResidentGraph();
  ResidentGraph(ResidentGraph&&) noexcept;

  Device& device() const;
  const Graph& graph() const;
  /// Frees the derived tables; what is needed again is made again, with the same content.
  void drop_tables();

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

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
