// sluice pagerank with a batch: updates the graph, and computes its ranks from earlier ones.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/cli/command_line.hpp"
#include "apps/data/batch.hpp"
#include "apps/job/job.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"

namespace sluice::apps {

struct RankBatchOptions {
  BatchFiles files;
  std::string previous;               ///< ranks of the graph before the batch
  std::string output_graph;           ///< file for the graph after the batch
  pagerank::DynamicRankOptions rank;  ///< its method is the command's

  bool updates() const { return !files.insert.empty() || !files.remove.empty(); }
};

/// Does the method spread only changes above --frontier-tolerance?
bool has_frontier(pagerank::RankMethod method);

/// Declares --damping, --tolerance, --norm, --max-iterations, --dangling, --precision.
void declare_rank_options(Command& command, pagerank::Options& options);
/// Declares how changes spread: --frontier-tolerance, --prune-tolerance, --affect-all.
void declare_frontier(Command& command, pagerank::DynamicRankOptions& rank);
/// Throws UsageError for an option of declare_frontier that has no effect with this method.
void refuse_idle_frontier(const Command& command, pagerank::RankMethod method);
void declare_rank_batch(Command& command, RankBatchOptions& options);

/// Throws UsageError for options that are missing or have no effect with this method.
void resolve_rank_batch(const Command& command, pagerank::RankMethod method, RankBatchOptions& options);

/// The job's memory in addition to its graph and the batch. Throws UsageError for what the run would refuse.
pagerank::Plan plan_rank_batch(Job& job, const ChargedBatch& batch, const pagerank::Options& rank,
                               const pagerank::DynamicRankOptions& dynamic, const pagerank::RankPlace& place);

/// The graph of a job, before and after its batch.
class RankBatch {
 public:
  /// Reads the earlier ranks, applies the batch to the job's graph, and writes the graph if requested; the
  /// job renames that file when it finishes.
  RankBatch(Job& job, ChargedBatch batch, const RankBatchOptions& options, const pagerank::Options& rank,
            const CommonOptions& common);

  /// Ranks of the graph after the batch, by a dynamic method.
  pagerank::Result follow(const pagerank::RankObserver& observer);

  /// Checks the ranks that follow() returned; throws RunError if they are wrong. Only with --verify. All
  /// ranks of the job call it.
  void verify(std::span<const double> ranks) const;

 private:
  /// Writes the graph if requested and makes it the job's. If `in_edges_computed`, its in-edges are not
  /// stored.
  void store_graph(Graph graph, bool in_edges_computed, const CommonOptions& common);

  Job& job_;
  const RankBatchOptions& options_;
  pagerank::Options rank_;
  std::optional<pagerank::DynamicRanks> ranks_;
  EdgeChanges changes_;
  double previous_change_ = 0;  ///< with --verify: how much an iteration changes the earlier ranks
  pagerank::DynamicRankResult followed_;
  ResolvedOptions counters_;
};

}  // namespace sluice::apps
