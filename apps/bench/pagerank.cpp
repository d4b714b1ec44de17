// sluice-bench pagerank: one static iteration, and the time to 1e-10, compared with the machine's limits. On
// a GPU also cuSPARSE's product of the same matrix, which moves three times the bytes per edge. Then batches.
#include "engine/pagerank/static/pagerank.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/limits.hpp"
#include "apps/bench/spmv.hpp"
#include "apps/bench/workload.hpp"

namespace sluice::bench {

namespace {

constexpr double kReferenceTolerance = 1e-14;  ///< tolerance of the reference for errors

class PageRankSuite : SuiteFigures {
 public:
  PageRankSuite(Device& device, const Options& options)
      : SuiteFigures(device, options),
        limits_(measure_limits(device, options.repetitions)),
        graph_(load_graph(device, options)) {}

  std::vector<Figure> run() {
    add_graph_size(graph_);
    add_value("limit: copy, read + write", limits_.copy, "GB/s");
    add_value("limit: random 4-byte reads", limits_.random4, "G reads/s");
    if (limits_.to_device > 0) add_value("limit: host to device", limits_.to_device, "GB/s");
    pagerank::Options f64, f32, weighted;
    f32.precision = pagerank::RankPrecision::f32;
    weighted.weighted = true;
    measure_iteration("one iteration, f64", f64);
    measure_iteration("one iteration, f64, rows as stored", f64, {.rows = pagerank::RankRows::listed});
    measure_iteration("one iteration, f32", f32);
    if (graph_.weighted) measure_iteration("one iteration, f64, weighted", weighted);
    PagingOptions coded = coded_quarter(graph_, device_.threads(), false);
    coded.transport = Transport::automatic;
    measure_iteration("one iteration, f64, a quarter on the device", f64, {.paging = coded});
    measure_iteration("one iteration, f64, a quarter on the device, copied", f64,
                      {.paging = kQuarterInSlots});
    measure_spmv_products();
    for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop})
      measure_convergence(dangling);
    dynamic();
    return std::move(figures_);
  }

 private:
  /// Measures stored edges a second; the first iteration is a warm-up.
  void measure_iteration(const std::string& name, pagerank::Options options,
                         const pagerank::RankPlace& place = {}) {
    if (!begin(name)) return;
    options.tolerance = 0;
    options.max_iterations = options_.repetitions + 1;
    const pagerank::Result result = pagerank::run_pagerank(device_, graph_, options, {}, place);
    std::vector<double> rates;
    for (std::size_t i = 1; i < result.history.size(); ++i)
      rates.push_back(static_cast<double>(graph_.edges()) / result.history[i].seconds * 1e-9);
    if (rates.empty()) return;
    Figure& figure =
        add_figure(name, rates, "G edges/s", text("%.0f ms to set up", result.setup_seconds * 1e3));
    if (place.paging.partitions <= 1) return;
    const double copied =
        static_cast<double>(result.traffic.host_to_device_bytes) / result.compute_seconds * 1e-9;
    figure.note = text("%.1f GB/s copied", copied);
    if (limits_.to_device > 0) set_share(figure, copied / limits_.to_device, "host to device");
  }

  /// Measures the same matrix in cuSPARSE, if it is installed.
  void measure_spmv_products() {
    if (!begin("cuSPARSE")) return;
    for (const auto& [name, seconds] : measure_spmv(device_, graph_, options_.repetitions)) {
      std::vector<double> rates;
      for (const double time : seconds) rates.push_back(static_cast<double>(graph_.edges()) / time * 1e-9);
      add_figure(name, rates, "G edges/s");
    }
  }

  void measure_convergence(pagerank::Dangling dangling) {
    const std::string name =
        dangling == pagerank::Dangling::uniform ? "to 1e-10, uniform" : "to 1e-10, self-loop";
    if (!begin(name)) return;
    pagerank::Options options;
    options.dangling = dangling;
    std::vector<double> times;
    pagerank::Result result;
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      result = pagerank::run_pagerank(device_, graph_, options);
      times.push_back(result.compute_seconds * 1e3);
    }
    options.tolerance = kReferenceTolerance;
    const pagerank::Result reference = pagerank::run_pagerank(device_, graph_, options);
    double error = 0;
    for (std::size_t v = 0; v < reference.ranks.size(); ++v)
      error = std::max(error, std::fabs(reference.ranks[v] - result.ranks[v]));
    add_figure(name, times, "ms", text("%.0f iterations, ", result.iterations) + text("error %.2g", error));
  }

  /// Measures batches on this graph, which they change, and on a road-like grid.
  void dynamic() {
    const auto add = [&](const std::string& name, Graph graph) {
      auto more = run_dynamic_pagerank(device_, options_, name, std::move(graph));
      std::move(more.begin(), more.end(), std::back_inserter(figures_));
    };
    graph_.weighted = false;
    graph_.out.weights = {}, graph_.in.weights = {};
    add(options_.graph.empty() ? "kronecker" : "the graph", std::move(graph_));
    if (options_.graph.empty()) add("grid", load_graph(device_, options_, io::GraphKind::grid));
  }

  Limits limits_;
  Graph graph_;
};

}  // namespace

std::vector<Figure> run_pagerank(Device& device, const Options& options) {
  return PageRankSuite(device, options).run();
}

}  // namespace sluice::bench
