// What a group of threads gets for its queries (group_query.hpp), and what it answers beside the lists.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/walks.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/query_workspace.hpp"
#include "engine/ppr/seeds.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// What a query took, and how far its scores may be from the true ones.
struct QueryFigures {
  double error = 0;  ///< no score is off by more; of walks, with the confidence asked for
  double held = 0;   ///< staged: residual kept as score
  std::uint64_t edges = 0;
  std::uint64_t reached = 0;          ///< vertices
  std::uint64_t table_entries = 0;    ///< one by one: in the table of scores, at most
  std::uint64_t peak_bytes = 0;       ///< of memory, at once
  std::uint64_t units = 0;            ///< of its mass
  double extraction_seconds = 0;      ///< of sub-graphs; of balls side by side, in sum
  std::uint64_t sub_graph_bytes = 0;  ///< of the largest; 0: there was none
  double seconds = 0;                 ///< until its list was there
};

/// Where a list that is not at hand begins.
inline constexpr EdgeIndex kNoPlace = ~EdgeIndex{0};

/// What all queries of a run have in common, as kernels see it.
struct QueryRules : QueryOptions {
  CsrView graph;
  /// [vertices] where lists begin in the graph's columns, which then have those at hand alone; null: as
  /// offsets say.
  const EdgeIndex* places = nullptr;
  std::uint64_t* wanted = nullptr;        ///< [vertices / 64] bits of lists that queries miss
  const double* totals = nullptr;         ///< [vertices] sums of weights; null: mass splits evenly
  const std::uint32_t* stages = nullptr;  ///< [stage_count] staged: steps of each
  std::uint32_t stage_count = 0;
  Continuation continuation;
  MassUnits units;       ///< where no ball says them
  Mass enough = 0;       ///< where a run to a tolerance ends
  double threshold = 0;  ///< on residuals; 0: none
  WalkRules walk;
  std::uint64_t table = 0;  ///< one by one: scores that are kept at a time; 0: all

  /// The residual threshold of a query of so many units; 0: none.
  SLUICE_HD Mass least_of(const MassUnits& of_query) const {
    if (threshold == 0) return 0;
    const Mass least = of_query.mass(threshold);
    return least == 0 ? 1 : least;
  }
  /// Steps to the edge of a ball that says units: those of all stages.
  SLUICE_HD std::uint32_t ball_steps() const {
    if (method != Method::staged) return length;
    std::uint32_t steps = 0;
    for (std::uint32_t stage = 0; stage < stage_count; ++stage) steps += stages[stage];
    return steps;
  }
  SLUICE_HD std::uint64_t degree_of(Vertex v) const {
    const EdgeIndex* const offsets = graph.offsets + v;
    return offsets[1] - offsets[0];
  }
  SLUICE_HD EdgeIndex place_of(Vertex v) const { return places == nullptr ? graph.offsets[v] : places[v]; }
  /// Of a vertex whose list is at hand.
  SLUICE_HD WalkList list_of(Vertex v) const {
    const EdgeIndex place = place_of(v);
    return {graph.targets + place, graph.weights == nullptr ? nullptr : graph.weights + place, degree_of(v)};
  }
  /// Most often its bit is set already, where many want the same.
  SLUICE_HD void want(Vertex v) const {
    std::uint64_t* const word = &wanted[v / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if ((load(word) & bit) == 0) fetch_or(word, bit);
  }
};

/// Lists of up to so many entries are sorted in the memory that lanes share.
inline constexpr std::uint32_t kSortedHere = 512;

/// What balls of a query took.
struct BallFigures {
  std::uint64_t edges = 0;  ///< along which mass was sent
  std::uint64_t extraction_nanoseconds = 0;
  std::uint64_t sub_graph_bytes = 0;  ///< of the largest
};

/// What a group found out about its query.
struct GroupFigures : BallFigures {
  Mass scored = 0, held = 0;
  Mass units = kWholeMass;  ///< of the query
  std::uint64_t nanoseconds = 0;
  std::uint32_t reached = 0;
  std::uint32_t table_entries = 0;
  std::uint32_t abandoned = 0;  ///< it did not fit the workspace, or lacks lists
  std::uint32_t lacking = 0;    ///< lists that it came to and that are not at hand; some count several times
};

/// Queries of a batch, and where their answers go; by row of the batch. Trivially copyable.
struct BatchView {
  const Seed* seeds = nullptr;                  ///< of each query; by vertex where they may go side by side
  const std::uint64_t* seed_offsets = nullptr;  ///< [all rows + 1]
  GroupFigures* figures = nullptr;              ///< [all rows]
  Vertex* vertices = nullptr;                   ///< [all rows, top]
  double* scores = nullptr;                     ///< [all rows, top]

  SLUICE_HD SeedsView seeds_of(std::uint32_t row) const {
    const std::uint64_t first = seed_offsets[row];
    return {seeds + first, static_cast<std::uint32_t>(seed_offsets[row + std::uint64_t{1}] - first)};
  }
};

/// One by one: entries that the table of scores may have at any moment; 0: no such limit.
std::uint64_t table_limit_of(const Options& options);
/// Calls use(mass) with a mass of the type that workspaces store.
template <class Use>
auto with_stored_mass(const Options& options, Use&& use) {
  return has_coarse_mass(options) ? use(CoarseMass{}) : use(Mass{});
}

/// The workspace that a run begins with; queries that do not fit are asked again in a larger one. `edges` are
/// the graph's, for sub-graphs of balls.
WorkspaceShape first_workspace(std::uint64_t vertices, const Options& options, std::uint64_t edges = 0);
/// The next larger one.
WorkspaceShape larger_workspace(const WorkspaceShape& workspace, std::uint64_t vertices);

/// Are sub-graphs of balls extracted?
inline bool extracts_sub_graphs(const Options& options) {
  return goes_one_by_one(options) && options.sub_graphs;
}

/// May queries of this run be answered side by side, by a GPU that has the graph (dense/queries.cuh)?
bool may_go_side_by_side(const Options& options);

/// The rules without what they point to.
QueryRules rules_of(const Options& options);
std::vector<std::uint32_t> stages_of(const Options& options);
/// Sums of each list's weights, added in the list's order: the bits that a single thread finds.
HostArray<double> weight_totals(const CsrView& graph, unsigned threads);

/// A query's figures in units of its user; its memory is not among them.
QueryFigures figures_of(const GroupFigures& group, const Options& options);

}  // namespace sluice::ppr
