// Which way exact queries go. On the host each begins in a table, and goes on side by side once a step there
// takes longer than its part of a pass over all vertices. On a GPU: in workspaces, a query a block
// (group_query.hpp), or side by side, a row a vertex (dense/queries.cuh). A workspace costs what its query
// reaches, and that in vain where it reaches more. A group side by side costs a look at all vertices in each
// step, however many queries it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// On the host: a step along so many edges takes as long in a table as a column's part of a pass over all
/// rows, of so many columns. What a query reaches hardly ever shrinks, so later steps are as long.
std::uint64_t least_edges_side_by_side(std::uint64_t vertices, std::uint64_t edges, std::uint32_t width);

/// What a GPU can do with the queries of a run.
struct RouteLimits {
  std::uint64_t vertices = 0;
  std::uint64_t blocks = 1;  ///< queries that are in workspaces at once
  bool workspaces = true;    ///< false: all go side by side
  bool rows = true;          ///< false: none does
};

/// Leads batches of queries from workspace to larger workspace, and side by side where that is expected to
/// take less. Answers do not depend on it.
class QueryRoute {
 public:
  /// Batches begin in workspace `first`, or in the next one if most of an earlier batch outgrew it.
  QueryRoute(const RouteLimits& limits, const WorkspaceShape& first);

  /// A batch of so many queries begins.
  void begin(std::uint64_t queries);
  /// The workspace that those of the batch come to who have no answer yet.
  const WorkspaceShape& workspace() const { return sizes_[at_].shape; }
  /// Do so many of them go side by side instead?
  bool goes_side_by_side(std::uint64_t queries) const;
  /// So many of them outgrew the workspace, and come to a larger one.
  void outgrown(std::uint64_t queries);
  /// One was answered, in a workspace or side by side.
  void answered(std::uint64_t reached);
  /// There is not the memory for rows.
  void keep_to_workspaces() { limits_.rows = false; }

 private:
  /// A size of workspaces, and the queries that fit it but no smaller one; those of long ago count less and
  /// less.
  struct Size {
    WorkspaceShape shape;
    double queries = 0, reached = 0;
    bool outgrown = false;  ///< by most of a batch
  };

  double cost_in_workspaces(std::size_t at, double queries) const;
  double cost_side_by_side(double queries) const;

  RouteLimits limits_;
  std::vector<Size> sizes_;
  std::size_t at_ = 0;
  std::uint64_t batch_ = 0;
  bool begun_ = false;  ///< the batch has been in a workspace
};

}  // namespace sluice::ppr
