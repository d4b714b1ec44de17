// PageRank of a graph that changes: ranks follow a batch of insertions and deletions.
//
// The methods are those of Sahu, "Efficient GPU Implementation of Static and Incrementally Expanding DF-P
// PageRank for Dynamic Graphs" (2024): Naive-dynamic works on all vertices from the earlier ranks, Dynamic
// Traversal on all that can be reached from the batch, Dynamic Frontier on the vertices next to the batch and
// those that changes spread to, with Pruning until a vertex hardly changes. A fifth works on residuals and is
// ours (settle.hpp). Beyond the papers, what is worked on is a list, not flags over all vertices: an
// iteration costs what its vertices and their edges cost. Sums are exact integers and the list is a set, so
// ranks, iterations and counts are the same bit for bit for any threads.
//
// With `--dangling uniform` every rank depends on every dangling vertex through their common sum. Therefore
// these methods solve for another vector. Let P be the column-stochastic matrix with zero columns for
// dangling vertices, d the damping, and D the rank of the dangling vertices together. Ranks fulfil
//     r = d P r + ((1 - d) + d D) / n,
// and y = d P y + (1 - d) / n has the same solution but for a factor, since both are (I - d P)^-1 applied to
// a constant: r = y ((1 - d) + d D) / (1 - d). As r sums to 1, r = y / sum(y). In y a change stays where
// edges carry it. Earlier ranks become y by the same factor, with the D of the graph before. A change of the
// number of vertices scales the constant, and so y, by n / n'.
//
// Pruning needs ranks in closed form: a vertex with a loop waits for its own change, which shrinks by d /
// (its out-degree) an iteration, and would be pruned before the series has ended. With s the sum over all
// other in-neighbours and l the part of its rank that a vertex gives to itself,
//     y(v) = (1 - d) / n + d (s + l y(v))   =>   y(v) = ((1 - d) / n + d s) / (1 - d l).
// With `--dangling self-loop` l is 1 / out-degree for every vertex, which is the paper's formula; with
// `uniform` it is 0 but for vertices whose loop is in the graph. There is no other term of y(v) on the right
// side, since dangling vertices give nothing to anyone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

/// Which iterations share a launch where a GPU holds the graph; changes no result.
enum class RoundFusion {
  automatic,  ///< those with few affected vertices
  none,       ///< no two: each is several launches
  push_pull,  ///< successive ones that pull in a kernel, and those that push in another
  all,        ///< both in one kernel
};

/// What one batch asks for.
struct DynamicRankOptions {
  RankMethod method = RankMethod::pruned_frontier;
  /// Expand above it, on |new - old| / max(new, old); old is what out-neighbours know of (residual_frontier),
  /// or the rank one iteration before.
  double frontier_tolerance = 1e-6;
  double prune_tolerance = 1e-6;        ///< prune at or below it
  RankSplit split = RankSplit::in_out;  ///< the others on a GPU alone
  /// push_pull and all: residual_frontier with all_affected, where a GPU holds the graph.
  RoundFusion fusion = RoundFusion::automatic;
  /// All vertices are affected at first. Without changes, from equal ranks, residual_frontier then is a
  /// PageRank that pulls while most ranks change, and pushes differences once few do (as SIMD-X has it).
  bool all_affected = false;
  /// pruned_frontier: affect all vertices after an iteration in which more than half of the edges lead from
  /// vertices whose change spreads. False: their out-neighbours alone, as published.
  bool affect_all = true;
};

/// Throws UsageError naming the option.
void validate(const DynamicRankOptions& options);
/// The same, and for options that this device has no use for.
void validate(const DynamicRankOptions& options, const Device& device);

struct DynamicRankResult : RankRun {
  std::vector<std::uint64_t> affected;   ///< [iterations] vertices that each worked on
  std::uint64_t initially_affected = 0;  ///< vertices
  std::uint64_t ever_affected = 0;       ///< vertices that were worked on in some iteration
  std::uint32_t widened_iterations = 0;  ///< after which DynamicRankOptions::affect_all affected all vertices
  std::uint32_t in_list_iterations = 0;  ///< after which in-lists said who is affected, not out-lists
  double update_seconds = 0;             ///< a GPU's copy of the graph; 0 where there is none
  double rewrite_seconds = 0;            ///< of these, the GPU's work on the lists once it has the changes
  double shared_seconds = 0;             ///< of compute_seconds, a GPU's for sums that ranks share out
  std::uint64_t partitions_read = 1;     ///< in some iteration; the others held no affected vertex
  std::uint32_t kernel_launches = 0;     ///< of iterations, where a GPU holds the graph
  /// Of a thread of the largest kernel that pushes, or pulls; of any RoundFusion but automatic.
  unsigned push_registers = 0, pull_registers = 0;
};

/// Ranks that follow a graph through its batches. Figures of a batch are those of all ranks of the job, but
/// for times and partitions.
class DynamicRanks {
 public:
  /// Begins with `ranks` of `graph`, one a vertex, found with the same damping, dangling rule and weights.
  /// Throws UsageError for options out of range and for f32 contributions, InputError for ranks that are no
  /// ranks (size, negative or not finite, sum above 1), BudgetError where the state does not fit.
  ///
  /// In-edges of more than the device has left beside the state, in a file, or as `place` asks, come in
  /// partitions, none of them without an affected vertex; and of several ranks of a job, which all have the
  /// graph, or its file, and make the same calls, each works on a range of vertices of about equally many
  /// in-edges. New vertices go to the last one. Throws UsageError for a directed graph in a file without
  /// in-edges. A GPU that is alone and has the memory keeps the graph in both directions; so do those of all
  /// ranks, which then share out the sums of many vertices alone.
  DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
               const Options& options, const RankPlace& place = {});
  ~DynamicRanks();
  DynamicRanks(DynamicRanks&&) noexcept;

  /// Goes from the graph as it was to `graph`, which update_graph() made of it with `changes`. The residual
  /// is that of normalised ranks. In-edges must be stored, but for undirected graphs (UsageError).
  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& options,
                           const RankObserver& observer = {});

  /// The ranks now of this job rank's vertices, [first(), first() + own()); those of all vertices sum to 1 as
  /// far as the tolerance allows. Throws UsageError where `ranks` cannot hold own() of them.
  void read_ranks(std::span<double> ranks) const;
  std::uint64_t first() const;
  std::uint64_t own() const;
  std::uint64_t vertices() const;  ///< of the graph

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sluice::pagerank
