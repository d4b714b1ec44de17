#include "engine/ppr/query_route.hpp"

#include <algorithm>
#include <limits>

#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

namespace {

/// Bytes of dense rows that a group processes while a block processes one byte of its workspace. GD(12) of
/// one query on an H200 takes 68 ms for 13.2 MB of workspace, and 1.8 ms for 7.4 MB of rows (dblp-2010); 6.3
/// ms for 0.87 MB, and 0.35 ms for 0.48 MB (pubmed).
constexpr double kRowSpeedup = 16;
/// Concurrent blocks that do the work of one block alone: they share processors and the L2. On the H200, 528
/// blocks do the work of 33 (pubmed) to 92 (citeseer, whose workspaces fit the L2).
constexpr double kContention = 8;
/// Mean part of a workspace that counts for a query that outgrows it: it seldom goes through all of it.
constexpr double kOutgrown = 0.5;
/// Batches before the last one count as at most this many queries.
constexpr double kHistoryQueries = 32;
constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();

/// Edges of a table that take as long as one vertex or edge of dense rows: 4 with a single column, plus 1 for
/// each kColumnsOfMore columns. Measured with eight columns: 7 to 16 (cora, dblp-2010); with one: 4 to 6.
constexpr std::uint64_t kTableEdges = 4, kColumnsOfMore = 2;

}  // namespace

std::uint64_t min_edges_for_rows(std::uint64_t vertices, std::uint64_t edges, std::uint32_t width) {
  return (vertices + edges) / (kTableEdges + width / kColumnsOfMore);
}

QueryRoute::QueryRoute(const RouteLimits& limits, const WorkspaceShape& first) : limits_(limits) {
  sizes_.push_back({first});
  while (!sizes_.back().shape.holds_all())
    sizes_.push_back({larger_workspace(sizes_.back().shape, limits_.vertices)});
}

void QueryRoute::begin(std::uint64_t queries) {
  double history = 0;
  for (const Size& size : sizes_) history += size.queries;
  const double kept = std::min(1.0, kHistoryQueries / std::max(history, 1.0));
  for (Size& size : sizes_) size.queries *= kept, size.reached *= kept;

  batch_ = queries;
  current_ = 0;
  while (sizes_[current_].outgrown) {
    ++current_;
    has_run_ = true;
    if (!prefers_dense_rows(queries)) continue;
    --current_;  // from there queries go to dense rows
    break;
  }
  has_run_ = false;
}

/// Cost of `queries` queries that reach workspace `at`; below 1, the chance of one. The unit is one byte of a
/// workspace that a block alone processes. Queries that outgrow the workspace then take the cheaper way.
double QueryRoute::cost_in_workspaces(std::size_t at, double queries) const {
  if (at == sizes_.size()) return kInfiniteCost;
  const WorkspaceShape& shape = sizes_[at].shape;
  if (DenseShape{limits_.vertices}.query_bytes() <= shape.bytes()) return kInfiniteCost;
  double arriving = 0, fit = 0, used = 0;  // of the remembered queries
  for (std::size_t i = has_run_ || at > current_ ? at : 0; i < sizes_.size(); ++i) {
    if (i <= at) {
      fit += sizes_[i].queries, used += sizes_[i].reached / static_cast<double>(shape.limit);
    } else {
      used += kOutgrown * sizes_[i].queries;
    }
    arriving += sizes_[i].queries;
  }
  if (arriving == 0) arriving = 1, fit = used = 0.5;
  const double left = queries * (1 - fit / arriving);
  const double together = std::max(1.0, queries * kContention / static_cast<double>(limits_.blocks));
  const double cost = std::min(queries, together) * static_cast<double>(shape.bytes()) * used / arriving;
  return cost + std::min(cost_in_rows(left), cost_in_workspaces(at + 1, left));
}

double QueryRoute::cost_in_rows(double queries) const {
  const DenseShape shape{limits_.vertices};
  const double groups = std::min(queries, std::max(1.0, queries / shape.width));
  return groups * static_cast<double>(shape.query_bytes()) / kRowSpeedup;
}

bool QueryRoute::prefers_dense_rows(std::uint64_t queries) const {
  if (!limits_.rows || !limits_.workspaces) return limits_.rows;
  const auto asked = static_cast<double>(queries);
  const bool known = std::ranges::any_of(sizes_, [](const Size& size) { return size.queries > 0; });
  const double in_workspaces = cost_in_workspaces(current_, asked);
  if (!has_run_ && !known) return in_workspaces == kInfiniteCost;
  return cost_in_rows(asked) <= in_workspaces;
}

void QueryRoute::outgrown(std::uint64_t queries) {
  has_run_ = true;
  if (current_ + 1 == sizes_.size()) return;
  sizes_[current_].outgrown = sizes_[current_].outgrown || 2 * queries > batch_;
  ++current_;
}

void QueryRoute::record_answer(std::uint64_t reached) {
  const auto size = std::ranges::find_if(sizes_, [&](const Size& s) { return reached <= s.shape.limit; });
  Size& fits = size == sizes_.end() ? sizes_.back() : *size;
  fits.queries += 1, fits.reached += static_cast<double>(reached);
}

}  // namespace sluice::ppr
