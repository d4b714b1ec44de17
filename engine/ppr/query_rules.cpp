#include "engine/ppr/query_rules.hpp"

#include <algorithm>
#include <bit>

#include "engine/exec/threads.hpp"

namespace sluice::ppr {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 12;
/// Enough for most queries of the local methods. A query that outgrows it has wasted about a quarter of the
/// work that it needs in the end.
constexpr std::uint64_t kFirstReached = 1u << 11;
constexpr std::uint64_t kWorkspaceGrowth = 4;

Continuation continuation_of(const Options& options) {
  if (!has_coarse_mass(options)) return Continuation::of(options.alpha);
  return Continuation::coarse_of(options.alpha, kCoarseAlphaBits);
}

/// What a score may miss because alpha is rounded down: the probability that a walk ends because of it. Each
/// step adds the difference, if the walk is still under way.
double missed_by_alpha(const Options& options) {
  if (!has_coarse_mass(options)) return 0;
  const std::uint32_t length = length_of(options);
  const double steps = 1 / (1 - options.alpha);
  return (options.alpha - continuation_of(options).alpha()) *
         (length != 0 ? std::min<double>(length, steps) : steps);
}

}  // namespace

std::uint64_t table_limit_of(const Options& options) {
  if (!is_one_by_one(options) || options.table_limit != TableLimit::hard) return 0;
  return std::uint64_t{options.table} * options.top;
}

WorkspaceShape first_workspace(std::uint64_t vertices, const Options& options, std::uint64_t edges) {
  WorkspaceShape shape;
  shape.entry_bytes =
      with_stored_mass(options, [](auto mass) { return sizeof(WorkspaceEntry<decltype(mass)>); });
  if (is_one_by_one(options)) {  // one_by_one sorts all reached vertices
    const std::uint64_t limit = table_limit_of(options);
    shape.sort_entries = vertices;
    shape.steps = static_cast<std::uint64_t>(*std::ranges::max_element(options.stages));
    shape.table = limit == 0 ? 0 : std::bit_ceil(limit);
  } else {
    shape.sort_entries = options.top <= kSharedSortLimit ? 0 : options.top;
  }
  if (extracts_sub_graphs(options))
    shape.sub_graphs = true, shape.weighted = options.weighted, shape.graph_edges = edges;
  return shape.resized(kFirstReached, vertices);
}

WorkspaceShape larger_workspace(const WorkspaceShape& workspace, std::uint64_t vertices) {
  return workspace.resized(workspace.limit * kWorkspaceGrowth, vertices);
}

bool may_use_dense_rows(const Options& options) {
  return options.method == Method::exact && options.top <= kSharedSortLimit &&
         options.state != State::sparse && !has_coarse_mass(options);
}

QueryRules rules_of(const Options& options) {
  QueryRules rules;
  static_cast<QueryOptions&>(rules) = options;
  rules.continuation = continuation_of(options);
  rules.units = MassUnits::of(options.score_units);
  rules.tolerance_mass = rules.units.mass(std::min(options.tolerance, 1.0));
  rules.threshold = options.residual_threshold;
  rules.walk = WalkRules::of(options);
  rules.table = std::uint64_t{options.table} * options.top;
  rules.stage_count = static_cast<std::uint32_t>(options.stages.size());
  return rules;
}

std::vector<std::uint32_t> stages_of(const Options& options) {
  return {options.stages.begin(), options.stages.end()};
}

HostArray<double> weight_totals(const CsrView& graph, unsigned threads) {
  HostArray<double> totals(graph.vertices, "sums of weights");
  parallel_blocks(threads, graph.vertices, kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = begin; v < end; ++v) {
                      const EdgeIndex first = graph.offsets[v];
                      totals[v] = sum_of_weights(graph.weights + first, graph.offsets[v + 1] - first);
                    }
                  });
  return totals;
}

QueryFigures figures_of(const GroupFigures& group, const Options& options) {
  QueryFigures figures;
  const MassUnits units = MassUnits::of(group.units);
  figures.units = units.whole;
  figures.held = units.share(group.held);
  figures.error = options.method == Method::walks
                      ? walk_error(options.walks, options.confidence)
                      : figures.held + units.share(units.whole - group.scored) + missed_by_alpha(options);
  figures.edges = group.edges;
  figures.reached = group.reached;
  figures.table_entries = group.table_entries;
  figures.seconds = static_cast<double>(group.nanoseconds) * 1e-9;
  figures.extraction_seconds = static_cast<double>(group.extraction_nanoseconds) * 1e-9;
  figures.sub_graph_bytes = group.sub_graph_bytes;
  return figures;
}

}  // namespace sluice::ppr
