// Parameters of the queries of a group of threads (group_query.hpp), and its figures beside the lists.
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

/// Cost of a query, and a bound on the error of its scores.
struct QueryFigures {
  double error = 0;  ///< bound on the error of each score; walks: with the confidence asked for
  double held = 0;   ///< staged: residual kept as score
  std::uint64_t edges = 0;
  std::uint64_t reached = 0;          ///< vertices
  std::uint64_t table_entries = 0;    ///< one_by_one: most entries of the score table
  std::uint64_t peak_bytes = 0;       ///< peak memory
  std::uint64_t units = 0;            ///< units of the query's mass
  double extraction_seconds = 0;      ///< for sub-graphs, summed over parallel balls
  std::uint64_t sub_graph_bytes = 0;  ///< of the largest sub-graph; 0: there was none
  double seconds = 0;                 ///< until the result list was complete
};

/// The place of a list that is not on the device.
inline constexpr EdgeIndex kNoPosition = ~EdgeIndex{0};

/// Parameters that all queries of a run share, as kernels see them.
struct QueryRules : QueryOptions {
  CsrView graph;
  /// [vertices] where each list begins in the columns of `graph`, which then hold only available lists; null:
  /// as offsets say.
  const EdgeIndex* positions = nullptr;
  std::uint64_t* wanted = nullptr;        ///< [vertices / 64] bitmap of lists that queries lack
  const double* totals = nullptr;         ///< [vertices] sums of weights; null: mass splits evenly
  const std::uint32_t* stages = nullptr;  ///< [stage_count] staged: steps of each
  std::uint32_t stage_count = 0;
  Continuation continuation;
  MassUnits units;       ///< unless the ball of a query determines them
  Mass tolerance_mass = 0;  ///< residual at which a run to a tolerance ends
  double threshold = 0;  ///< residual threshold; 0: none
  WalkRules walk;
  std::uint64_t table = 0;  ///< one_by_one: scores in the table; 0: all

  /// The residual threshold in the units of a query; 0: none.
  SLUICE_HD Mass threshold_of(const MassUnits& of_query) const {
    if (threshold == 0) return 0;
    const Mass mass = of_query.mass(threshold);
    return mass == 0 ? 1 : mass;
  }
  /// Depth of the ball that determines the units: L, or the steps of all stages.
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
  SLUICE_HD EdgeIndex position_of(Vertex v) const {
    return positions == nullptr ? graph.offsets[v] : positions[v];
  }
  /// The list of v must be available.
  SLUICE_HD WalkList list_of(Vertex v) const {
    const EdgeIndex position = position_of(v);
    return {graph.targets + position, graph.weights == nullptr ? nullptr : graph.weights + position,
            degree_of(v)};
  }
  /// Requests the list of v. The read saves most atomics: many queries request the same lists.
  SLUICE_HD void request_list(Vertex v) const {
    std::uint64_t* const word = &wanted[v / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if ((load(word) & bit) == 0) fetch_or(word, bit);
  }
};

/// Result lists of up to this many entries are sorted in the memory that lanes share.
inline constexpr std::uint32_t kSharedSortLimit = 512;

/// Cost of the balls of a query.
struct BallFigures {
  std::uint64_t edges = 0;  ///< along which mass was sent
  std::uint64_t extraction_nanoseconds = 0;
  std::uint64_t sub_graph_bytes = 0;  ///< of the largest sub-graph
};

/// Figures of a query, as its group finds them.
struct GroupFigures : BallFigures {
  Mass scored = 0, held = 0;
  Mass units = kWholeMass;  ///< of the query
  std::uint64_t nanoseconds = 0;
  std::uint32_t reached = 0;
  std::uint32_t table_entries = 0;
  std::uint32_t abandoned = 0;  ///< not 0: the query did not fit the workspace, or lists were missing
  std::uint32_t missing_lists = 0;  ///< missing lists that it reached; some count several times
};

/// Queries of a batch and the places of their answers, by row of the batch. Trivially copyable.
struct BatchView {
  const Seed* seeds = nullptr;                  ///< of each query; by vertex if dense rows may be used
  const std::uint64_t* seed_offsets = nullptr;  ///< [all rows + 1]
  GroupFigures* figures = nullptr;              ///< [all rows]
  Vertex* vertices = nullptr;                   ///< [all rows, top]
  double* scores = nullptr;                     ///< [all rows, top]

  SLUICE_HD SeedsView seeds_of(std::uint32_t row) const {
    const std::uint64_t first = seed_offsets[row];
    return {seeds + first, static_cast<std::uint32_t>(seed_offsets[row + std::uint64_t{1}] - first)};
  }
};

/// Most entries of the score table at any moment (one_by_one); 0: no such limit.
std::uint64_t table_limit_of(const Options& options);
/// Calls use(mass) with a value of the type in which workspaces store masses.
template <class Use>
auto with_stored_mass(const Options& options, Use&& use) {
  return has_coarse_mass(options) ? use(CoarseMass{}) : use(Mass{});
}

/// The workspace that a run begins with; queries that do not fit run again in a larger one. `edges`: edges of
/// the graph, for the sub-graphs of balls.
WorkspaceShape first_workspace(std::uint64_t vertices, const Options& options, std::uint64_t edges = 0);
/// The next larger workspace.
WorkspaceShape larger_workspace(const WorkspaceShape& workspace, std::uint64_t vertices);

/// True if the sub-graphs of balls are extracted.
inline bool extracts_sub_graphs(const Options& options) {
  return is_one_by_one(options) && options.sub_graphs;
}

/// True if a GPU that holds the graph may answer queries of this run in dense rows (dense/queries.cuh).
bool may_use_dense_rows(const Options& options);

/// The rules without their pointers.
QueryRules rules_of(const Options& options);
std::vector<std::uint32_t> stages_of(const Options& options);
/// Sums of each list's weights.
HostArray<double> weight_totals(const CsrView& graph, unsigned threads);

/// The figures of a query in the units of its user; they do not include its memory.
QueryFigures figures_of(const GroupFigures& group, const Options& options);

}  // namespace sluice::ppr
