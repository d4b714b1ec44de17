// MeLoPPR's balls in their own sub-graphs, as published, compared with balls in the graph's lists: time, the
// share of it that breadth-first search takes (Fig. 7), and the memory of a sub-graph (Table II).
#include <fmt/core.h>

#include <algorithm>

#include "apps/bench/papers/meloppr.hpp"
#include "apps/bench/workload.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::bench::papers {

namespace {

/// Sums over queries whose balls run one by one.
struct Cost : ppr::Sink {
  void write(const ppr::Batch& batch) override {
    for (const ppr::QueryFigures& query : batch.figures) {
      seconds += query.seconds, search += query.extraction_seconds;
      bytes += static_cast<double>(query.sub_graph_bytes);
      max_bytes = std::max(max_bytes, static_cast<double>(query.sub_graph_bytes));
    }
    queries += static_cast<double>(batch.count);
  }
  double microseconds() const { return seconds / queries * 1e6; }

  double queries = 0, seconds = 0, search = 0;
  double bytes = 0, max_bytes = 0;  ///< of the largest sub-graph of a query
};

/// Costs of all repetitions.
struct Costs {
  std::vector<double> microseconds, search_percent;
  double mean_bytes = 0, max_bytes = 0;
};

Costs measure(const Tables& tables, const Device& device, const Graph& graph, ppr::Options o) {
  o.one_by_one = true, o.seed = tables.options().seed;
  Costs costs;
  costs.microseconds = repeated(tables.options().repetitions, [&] {
    Cost cost;
    run_ppr(device, graph, random_starts(device.is_cuda() ? kOneByOneOnGpu : kOneByOne), o, cost);
    costs.search_percent.push_back(cost.search / cost.seconds * 100);
    costs.mean_bytes = cost.bytes / cost.queries, costs.max_bytes = cost.max_bytes;
    return cost.microseconds();
  });
  return costs;
}

ppr::Options staged(std::vector<std::int64_t> stages, double share) {
  ppr::Options o = six_steps(ppr::Method::staged);
  o.stages = std::move(stages), o.expand = share;
  return o;
}

void compare(Tables& tables, const Device& device, const Graph& graph, const std::string& row,
             ppr::Options o) {
  tables.report_progress(row);
  const double in_graph = median(measure(tables, device, graph, o).microseconds);
  o.sub_graphs = true;
  const Costs own = measure(tables, device, graph, o);
  tables.add_row(row, own.microseconds, "us a query",
                 {{"us in the graph's lists", in_graph},
                  {"times as fast", in_graph / median(own.microseconds)},
                  {"% of the time in search", median(own.search_percent)},
                  {"KB of the largest sub-graph", own.mean_bytes * 1e-3},
                  {"KB at most", own.max_bytes * 1e-3}});
}

void on_generated(Tables& tables, const Device& device, const char* name, io::GraphKind kind) {
  if (!tables.begin(fmt::format("MeLoPPR {}, sub-graphs", name))) return;
  const Graph graph = tables.graph(kMelopprHostScale, kMelopprGpuScale, kind, kMelopprEdgeFactor);
  tables.set_graph(fmt::format("{} of edge factor {}", name, kMelopprEdgeFactor), graph);
  compare(tables, device, graph, "6, one ball", staged({6}, 0));
  compare(tables, device, graph, "3,3 at 1%", staged({3, 3}, 0.01));
  compare(tables, device, graph, "2,2,2 at 1%", staged({2, 2, 2}, 0.01));
}

void on_file(Tables& tables, const Device& device, const std::string& name, const Graph& graph) {
  tables.report_progress(name);
  ppr::Options o = staged({3, 3}, 0.1);
  const double in_graph = median(measure(tables, device, graph, o).microseconds);
  o.sub_graphs = true;
  const Costs own = measure(tables, device, graph, o);
  o.stages = {6};
  const Costs one_ball = measure(tables, device, graph, o);
  tables.add_row_of_cells(name, "times less KB in two stages",
                          {{"", {one_ball.mean_bytes / own.mean_bytes}},
                           {"KB, one stage", {one_ball.mean_bytes * 1e-3}},
                           {"KB, 3,3 at 10%", {own.mean_bytes * 1e-3}},
                           {"KB at most, 3,3 at 10%", {own.max_bytes * 1e-3}},
                           {"% of the time in search, 3,3 at 10%", own.search_percent},
                           {"% of the time in search, one stage", one_ball.search_percent},
                           {"us a query, 3,3 at 10%", own.microseconds},
                           {"us in the graph's lists", {in_graph}}},
                          graph);
}

}  // namespace

void run_meloppr_sub_graphs(Tables& tables, Device& device) {
  on_generated(tables, device, "Kronecker", io::GraphKind::kronecker);
  if (tables.options().graph.empty()) on_generated(tables, device, "uniform", io::GraphKind::uniform);
  on_meloppr_graphs(tables, "MeLoPPR graphs, sub-graphs", [&](const std::string& name, const Graph& graph) {
    on_file(tables, device, name, graph);
  });
}

}  // namespace sluice::bench::papers
