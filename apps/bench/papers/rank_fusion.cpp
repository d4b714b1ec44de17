#include "apps/bench/papers/rank_fusion.hpp"

#include <utility>

#include "apps/bench/workload.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"

namespace sluice::bench::papers {

namespace {

constexpr double kRankFrontier = 1e-4;

/// Measures the sweep, which only pulls.
void add_sweeps(Tables& tables, Device& device, const Graph& graph) {
  using enum pagerank::RankFusion;
  double together = 0;
  for (const auto& [name, fusion] : {std::pair("pagerank, all", all), {"pagerank, none", none}}) {
    if (!tables.has_gpu(name)) continue;
    pagerank::Result last;
    const std::vector<double> milliseconds = rank_times(tables, device, graph, name, fusion, last);
    tables.add_compared_row(together, name, milliseconds,
                            {{"launches", last.kernels.launches},
                             {"pull registers", last.kernels.registers},
                             {"rounds", last.iterations}},
                            "times all");
  }
}

/// Measures ranks that pull while most of them change, and then push differences.
void add_differences(Tables& tables, Device& device, const Graph& graph) {
  using enum pagerank::RoundFusion;
  const std::vector<double> equal(graph.vertices(), 1.0 / static_cast<double>(graph.vertices()));
  double together = 0;
  for (const auto& [name, fusion] : {std::pair("pagerank that pushes, all", all),
                                     {"pagerank that pushes, push-pull", push_pull},
                                     {"pagerank that pushes, none", none}}) {
    if (!tables.has_gpu(name)) continue;
    tables.report_progress(name);
    pagerank::DynamicRankResult result;
    const std::vector<double> milliseconds = repeated(tables.options().repetitions, [&] {
      pagerank::DynamicRanks ranks(device, graph, equal, {});
      result = ranks.follow(graph, {},
                            {.method = pagerank::RankMethod::residual_frontier,
                             .frontier_tolerance = kRankFrontier,
                             .fusion = fusion,
                             .all_affected = true});
      return result.compute_seconds * 1e3;
    });
    tables.add_compared_row(together, name, milliseconds,
                            {{"launches", result.kernel_launches},
                             {"push registers", result.push_registers},
                             {"pull registers", result.pull_registers},
                             {"rounds", result.iterations}},
                            "times all");
  }
}

}  // namespace

std::vector<double> rank_times(Tables& tables, Device& device, const Graph& graph, const std::string& row,
                               pagerank::RankFusion fusion, pagerank::Result& last) {
  tables.report_progress(row);
  return repeated(tables.options().repetitions, [&] {
    last = pagerank::run_pagerank(device, graph, {}, {}, {.fusion = fusion});
    return last.compute_seconds * 1e3;
  });
}

void add_rank_fusions(Tables& tables, Device& device, const Graph& graph) {
  add_sweeps(tables, device, graph);
  add_differences(tables, device, graph);
}

}  // namespace sluice::bench::papers
