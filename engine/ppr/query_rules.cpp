#include "engine/ppr/query_rules.hpp"

#include <algorithm>
#include <bit>

#include "engine/exec/threads.hpp"

namespace sluice::ppr {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 12;
/// Enough for most queries of the local methods. What does not fit has been worked on in vain, by a quarter
/// of what it takes in the end.
constexpr std::uint64_t kFirstReached = 1u << 11;
constexpr std::uint64_t kMostStatesStep = 4;

}  // namespace

std::uint64_t table_limit_of(const Options& options) {
  if (!goes_one_by_one(options) || options.table_limit != TableLimit::hard) return 0;
  return std::uint64_t{options.table} * options.top;
}

WorkspaceShape first_workspace(std::uint64_t vertices, const Options& options) {
  if (goes_one_by_one(options)) {  // which sorts all that it has reached
    const auto steps = *std::max_element(options.stages.begin(), options.stages.end());
    const std::uint64_t limit = table_limit_of(options);
    return WorkspaceShape::of(kFirstReached, vertices, vertices, static_cast<std::uint64_t>(steps),
                              limit == 0 ? 0 : std::bit_ceil(limit));
  }
  return WorkspaceShape::of(kFirstReached, vertices, options.top <= kSortedHere ? 0 : options.top);
}

WorkspaceShape larger_workspace(const WorkspaceShape& workspace, std::uint64_t vertices) {
  return WorkspaceShape::of(workspace.limit * kMostStatesStep, vertices, workspace.asked, workspace.steps,
                            workspace.table);
}

bool may_go_side_by_side(const Options& options) {
  return options.method == Method::exact && options.top <= kSortedHere && options.state != State::sparse;
}

QueryRules rules_of(const Options& options) {
  QueryRules rules;
  rules.continuation = Continuation::of(options.alpha);
  rules.method = options.method;
  rules.length = options.length;
  rules.enough = to_mass(std::min(options.tolerance, 1.0));
  if (options.residual_threshold > 0) rules.least = std::max<Mass>(to_mass(options.residual_threshold), 1);
  rules.expand = options.expand;
  rules.unexpanded = options.unexpanded;
  rules.dangling = options.dangling;
  rules.top = options.top;
  rules.walk = WalkRules::of(options);
  rules.walks = options.walks;
  rules.table = std::uint64_t{options.table} * options.top;
  rules.table_limit = options.table_limit;
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
                      double total = 0;
                      for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
                        total += static_cast<double>(graph.weights[e]);
                      totals[v] = total;
                    }
                  });
  return totals;
}

QueryFigures figures_of(const GroupFigures& group, const Options& options) {
  QueryFigures figures;
  figures.held = from_mass(group.held);
  figures.error = options.method == Method::walks ? walk_error(options.walks, options.confidence)
                                                  : figures.held + from_mass(kWholeMass - group.scored);
  figures.edges = group.edges;
  figures.reached = group.reached;
  figures.table_entries = group.table_entries;
  figures.seconds = static_cast<double>(group.nanoseconds) * 1e-9;
  return figures;
}

}  // namespace sluice::ppr
