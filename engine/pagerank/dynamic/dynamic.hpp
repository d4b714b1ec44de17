// PageRank of a graph that changes: ranks are updated after each batch of insertions and deletions.
//
// The methods are those of Sahu, "Efficient GPU Implementation of Static and Incrementally Expanding DF-P
// PageRank for Dynamic Graphs" (2024). Naive-dynamic updates all vertices, beginning with the earlier ranks,
// and Dynamic Traversal all vertices that can be reached from the batch. Dynamic Frontier updates vertices
// next to the batch and those to which changes spread; with Pruning, each until it hardly changes. A fifth
// method works on residuals and is ours (settle.hpp). Beyond the papers, affected vertices are a list, not
// flags over all vertices: an iteration costs what its vertices and their edges cost. Sums are exact integers
// and the list is a set, so ranks, iterations and counts are the same bit for bit for any threads.
//
// With `--dangling uniform` every rank depends on every dangling vertex through their common sum. Therefore
// these methods solve for another vector. Let P be the column-stochastic matrix with zero columns for
// dangling vertices, d the damping, and D the sum of the dangling vertices' ranks. Ranks satisfy
//     r = d P r + ((1 - d) + d D) / n,
// and y = d P y + (1 - d) / n has the same solution but for a factor, since both are (I - d P)^-1 applied to
// a constant: r = y ((1 - d) + d D) / (1 - d). As r sums to 1, r = y / sum(y). In y a change spreads only
// along edges. Earlier ranks become y by the same factor, with the D of the graph before. If the number of
// vertices changes, the constant, and so y, is scaled by n / n'.
//
// Pruning needs ranks in closed form: the change that a vertex with a self-loop passes to itself shrinks by d
// / (its out-degree) an iteration, and the vertex would be pruned before this series has ended. With s the
// sum over all other in-neighbours and l the part of its rank that a vertex gives to itself,
//     y(v) = (1 - d) / n + d (s + l y(v))   =>   y(v) = ((1 - d) / n + d s) / (1 - d l).
// With `--dangling self-loop` l is 1 / out-degree for every vertex, which is the paper's formula; with
// `uniform` it is 0 but for vertices whose self-loop is in the graph. There is no other term of y(v) on the
// right side, since dangling vertices give nothing to anyone.
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

/// Which iterations share a launch if a GPU holds the graph; changes no result.
enum class RoundFusion {
  automatic,  ///< iterations with few affected vertices
  none,       ///< none: each iteration is several launches
  push_pull,  ///< a kernel for successive iterations that pull, another for those that push
  all,        ///< one kernel for both
};

/// Options of one batch.
struct DynamicRankOptions {
  RankMethod method = RankMethod::pruned_frontier;
  /// A change spreads above it: |new - old| / max(new, old). Old is the contribution that out-neighbours have
  /// received (residual_frontier), or the rank one iteration before.
  double frontier_tolerance = 1e-6;
  double prune_tolerance = 1e-6;        ///< a vertex is pruned at or below it
  RankSplit split = RankSplit::in_out;  ///< the others need a GPU
  /// push_pull and all need residual_frontier, all_affected, and a GPU that holds the graph.
  RoundFusion fusion = RoundFusion::automatic;
  /// All vertices are affected at first. From equal ranks, without changes, residual_frontier is then a
  /// static PageRank that pulls while most ranks change, and pushes differences once few do (as in SIMD-X).
  bool all_affected = false;
  /// pruned_frontier: affect all vertices after an iteration in which more than half of the edges lead from
  /// vertices whose change spreads. False: only their out-neighbours, as published.
  bool affect_all = true;
};

/// Throws UsageError naming the option.
void validate(const DynamicRankOptions& options);

struct DynamicRankResult : RankRun {
  std::vector<std::uint64_t> affected;   ///< [iterations] affected vertices of each
  std::uint64_t initially_affected = 0;  ///< vertices
  std::uint64_t ever_affected = 0;       ///< vertices that were affected in some iteration
  std::uint32_t widened_iterations = 0;  ///< after which DynamicRankOptions::affect_all affected all vertices
  std::uint32_t in_list_iterations = 0;  ///< after which in-lists, not out-lists, gave the affected vertices
  double update_seconds = 0;             ///< to update a GPU's copy of the graph; 0 without one
  double rewrite_seconds = 0;            ///< of these, to rewrite the lists once the GPU has the changes
  double shared_seconds = 0;             ///< of compute_seconds, a GPU's for sums divided among ranks
  std::uint64_t partitions_read = 1;     ///< in some iteration; the others had no affected vertex
  std::uint32_t kernel_launches = 0;     ///< of iterations, if a GPU holds the graph
  /// Registers a thread of the largest kernel that pushes, and that pulls; 0 for RoundFusion::automatic.
  unsigned push_registers = 0, pull_registers = 0;
};

/// Ranks of a graph, updated after each batch of changes. Figures of a batch are those of all ranks of the
/// job, except times and partitions.
class DynamicRanks {
 public:
  /// Begins with `ranks` of `graph`, one a vertex, computed with the same damping, dangling rule and weights.
  /// Throws UsageError for options out of range and for f32 contributions, InputError for invalid ranks
  /// (size, negative or not finite, sum above 1), BudgetError if the state does not fit.
  ///
  /// In-edges are brought in partitions if they exceed the device memory beside the state, are in a file, or
  /// if `place` asks for it; partitions without an affected vertex are not brought. All ranks of a job have
  /// the graph, or its file, and make the same calls. Each updates a range of vertices with about equally
  /// many in-edges; new vertices belong to the last rank. Throws UsageError for a directed graph in a file
  /// without in-edges. A single GPU with enough memory keeps the graph in both directions. So do the GPUs of
  /// all ranks if all have the memory; they then divide only the sums of many vertices.
  DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
               const Options& options, const RankPlace& place = {});
  ~DynamicRanks();
  DynamicRanks(DynamicRanks&&) noexcept;

  /// Updates the ranks for `graph`, which update_graph() made of the graph before with `changes`. The
  /// residual is that of normalised ranks. Throws UsageError if a directed graph does not store in-edges.
  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& options,
                           const RankObserver& observer = {});

  /// Reads the current ranks of this job rank's vertices, [first(), first() + own_rows()); those of all
  /// vertices sum to 1 as far as the tolerance allows. Throws UsageError if `ranks` is smaller than
  /// own_rows().
  void read_ranks(std::span<double> ranks) const;
  std::uint64_t first() const;
  std::uint64_t own_rows() const;
  std::uint64_t vertices() const;  ///< of the graph

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sluice::pagerank
