// sluice pagerank with a batch: the graph is updated, and ranks follow from earlier ones.
#pragma once

#include <optional>
#include <string>

#include "apps/batch.hpp"
#include "apps/command_line.hpp"
#include "apps/job.hpp"
#include "engine/rank/dynamic.hpp"

namespace sluice::apps {

struct RankBatchOptions {
  BatchFiles files;
  std::string previous;      ///< ranks of the graph as it is
  std::string output_graph;  ///< the graph as it becomes
  DynamicRankOptions rank;   ///< its method is that of the command

  bool updates() const { return !files.insert.empty() || !files.remove.empty(); }
};

/// Whether changes below --frontier-tolerance do not spread.
bool has_frontier(RankMethod method);

void declare_rank_batch(Command& command, RankBatchOptions& options);

/// Throws UsageError for options that are missing, or idle, with this method.
void settle_rank_batch(const Command& command, RankMethod method, RankBatchOptions& options,
                       const CommonOptions& common);

/// A job's graph, before and after its batch.
class RankBatch {
 public:
  /// Reads ranks and batch, applies it to the job's graph, and writes the graph if asked.
  RankBatch(Job& job, const RankBatchOptions& options, const PageRankOptions& rank,
            const CommonOptions& common);

  /// Ranks of the graph as it became, by a dynamic method.
  PageRankResult follow(const RankObserver& observer);

 private:
  /// Writes the graph if asked, and makes it the job's. `made`: its in-edges are not to be stored.
  void adopt(Graph graph, bool made, const CommonOptions& common);

  Job& job_;
  const RankBatchOptions& options_;
  std::optional<DynamicRanks> ranks_;
  std::vector<EdgeChange> changes_;
  ResolvedOptions counters_;
};

}  // namespace sluice::apps
