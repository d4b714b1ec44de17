// sluice pagerank with a batch: the graph is updated, and ranks follow from earlier ones.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/data/batch.hpp"
#include "apps/job/job.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"

namespace sluice::apps {

struct RankBatchOptions {
  BatchFiles files;
  std::string previous;               ///< ranks of the graph as it is
  std::string output_graph;           ///< the graph as it becomes
  pagerank::DynamicRankOptions rank;  ///< its method is that of the command

  bool updates() const { return !files.insert.empty() || !files.remove.empty(); }
};

/// Whether changes below --frontier-tolerance do not spread.
bool has_frontier(pagerank::RankMethod method);

/// What ranks are: --damping, --tolerance, --norm, --max-iterations, --dangling, --precision.
void declare_rank_options(Command& command, pagerank::Options& options);
/// How changes spread: --frontier-tolerance, --prune-tolerance, --affect-all.
void declare_frontier(Command& command, pagerank::DynamicRankOptions& rank);
/// Throws UsageError for one of these that has no meaning with this method.
void refuse_idle_frontier(const Command& command, pagerank::RankMethod method);
void declare_rank_batch(Command& command, RankBatchOptions& options);

/// Throws UsageError for options that are missing, or idle, with this method.
void settle_rank_batch(const Command& command, pagerank::RankMethod method, RankBatchOptions& options);

/// What the job needs beside its graph and the batch. Throws UsageError for what the run would refuse.
pagerank::Plan plan_rank_batch(Job& job, const HeldBatch& batch, const pagerank::Options& rank,
                               const pagerank::DynamicRankOptions& dynamic, const pagerank::RankPlace& place);

/// A job's graph, before and after its batch.
class RankBatch {
 public:
  /// Reads earlier ranks, applies the batch to the job's graph, and writes the graph if asked: the job gives
  /// it its name.
  RankBatch(Job& job, HeldBatch batch, const RankBatchOptions& options, const pagerank::Options& rank,
            const CommonOptions& common);

  /// Ranks of the graph as it became, by a dynamic method.
  pagerank::Result follow(const pagerank::RankObserver& observer);

  /// Whether these are such ranks (RunError), after follow(); only with --verify. All ranks of the job call
  /// it.
  void verify(std::span<const double> ranks) const;

 private:
  /// Writes the graph if asked, and makes it the job's. `made`: its in-edges are not to be stored.
  void adopt(Graph graph, bool made, const CommonOptions& common);

  Job& job_;
  const RankBatchOptions& options_;
  pagerank::Options rank_;
  std::optional<pagerank::DynamicRanks> ranks_;
  EdgeChanges changes_;
  double change_before_ = 0;  ///< that an iteration would have made to earlier ranks, with --verify
  pagerank::DynamicRankResult followed_;
  ResolvedOptions counters_;
};

}  // namespace sluice::apps
