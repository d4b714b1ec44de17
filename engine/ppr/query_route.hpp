// Chooses between sparse tables and dense rows for exact queries. On the host a query begins in a table, and
// moves to dense rows once a step takes longer than its share of a pass over all vertices. On a GPU it runs
// in the workspace of a block (group_query.hpp), or in dense rows (dense/queries.cuh). A workspace costs what
// its query reaches, and the work is lost if the query outgrows it. A dense group reads the state of all
// vertices in each step, for any number of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// On the host: edges at which a step in a table takes as long as a column's share of a pass over all rows of
/// `width` columns. The vertices reached hardly ever shrink, so later steps are as long.
std::uint64_t min_edges_for_rows(std::uint64_t vertices, std::uint64_t edges, std::uint32_t width);

/// Limits of a GPU for the queries of a run.
struct RouteLimits {
  std::uint64_t vertices = 0;
  std::uint64_t blocks = 1;  ///< queries that run in workspaces at once
  bool workspaces = true;    ///< false: all queries use dense rows
  bool rows = true;          ///< false: no query uses dense rows
};

/// Moves the queries of a batch from workspace to larger workspace, or to dense rows if those are expected to
/// be faster. Answers do not depend on it.
class QueryRoute {
 public:
  /// A batch begins in workspace `first`, or in a larger one if most of an earlier batch outgrew it.
  QueryRoute(const RouteLimits& limits, const WorkspaceShape& first);

  /// Begins a batch of this many queries.
  void begin(std::uint64_t queries);
  /// The workspace for the unanswered queries of the batch.
  const WorkspaceShape& workspace() const { return sizes_[current_].shape; }
  /// True if this many queries should use dense rows instead.
  bool prefers_dense_rows(std::uint64_t queries) const;
  /// This many queries outgrew the workspace, and move to a larger one.
  void outgrown(std::uint64_t queries);
  /// A query was answered, in a workspace or in dense rows.
  void record_answer(std::uint64_t reached);
  /// Memory does not suffice for dense rows.
  void disable_rows() { limits_.rows = false; }

 private:
  /// A size of workspaces, and the queries that fit it but no smaller one. Earlier queries count less and
  /// less.
  struct Size {
    WorkspaceShape shape;
    double queries = 0, reached = 0;
    bool outgrown = false;  ///< by most of a batch
  };

  double cost_in_workspaces(std::size_t at, double queries) const;
  double cost_in_rows(double queries) const;

  RouteLimits limits_;
  std::vector<Size> sizes_;
  std::size_t current_ = 0;
  std::uint64_t batch_ = 0;
  bool has_run_ = false;  ///< the batch has run in a workspace
};

}  // namespace sluice::ppr
