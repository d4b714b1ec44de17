// Sahu's experiments (DF-P PageRank, 2024): every method with random batches of 1e-7 to 1e-1 of the edges
// (Fig. 4 and 5), temporal graphs, tolerances, and the ways to split DF-P's work (Fig. 1).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <span>

#include "apps/bench/papers/tables.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/replay/replay.hpp"
#include "apps/cli/names.hpp"
#include "engine/exec/memory/recycled_memory.hpp"

namespace sluice::bench::papers {

namespace {

constexpr double kFractions[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
constexpr unsigned kHostScale = 16, kGpuScale = 22;
constexpr double kFileFraction = 1e-4;
/// Tolerances are swept with batches of one size.
constexpr double kTolerances[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}, kSweptFraction = 1e-5;
/// Of temporal graphs, as published.
constexpr double kReplayFractions[] = {1e-5, 1e-4, 1e-3};
const pagerank::RankPlace kWhole{.paging = {.partitions = 1}};

struct Method {
  std::string name;
  pagerank::DynamicRankOptions options;
};

std::vector<Method> all_methods() {
  std::vector<Method> methods;
  for (const auto method : {pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
                            pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier})
    methods.push_back({std::string(apps::name_of(apps::kRankMethods, method)), {method}});
  methods.back().name = "dfp with the shortcut";
  methods.push_back({"dfp as published", {pagerank::RankMethod::pruned_frontier}});
  methods.back().options.affect_all = false;
  return methods;
}

/// One method over the batches of a size.
struct Runs {
  std::vector<double> milliseconds, speedups;
  double iterations = 0, affected = 0, linf = 0, l1 = 0;

  void add(const ReplayRun& run, const ReplayRun& anew, double vertices) {
    milliseconds.push_back(run.seconds * 1e3);
    speedups.push_back(anew.seconds / run.seconds);
    iterations += run.iterations;
    affected += static_cast<double>(run.ever_affected) / vertices;
    linf = std::max(linf, run.linf);
    l1 += run.l1;
  }
};

class RandomBatches {
 public:
  /// The paper has self-loops.
  RandomBatches(Tables& tables, Device& device, Graph graph,
                pagerank::Dangling dangling = pagerank::Dangling::self_loop)
      : tables_(tables), device_(device), graph_(std::move(graph)) {
    rank_.dangling = dangling;
  }

  void run() {
    double times = 0, sizes = 0;
    for (const double fraction : kFractions) {
      if (batch_lines(graph_, fraction) < 1) {
        tables_.put_words(batch_name(fraction), "less than an edge of this graph");
      } else {
        times += batches_of(fraction, all_methods()), ++sizes;
      }
    }
    if (sizes > 0) tables_.put("mean of these sizes, dfp as published", {times / sizes}, "times static");
  }

  /// A graph file's row.
  void row(const std::string& name) {
    if (batch_lines(graph_, kFileFraction) < 1)
      return tables_.put_words(name, "less than an edge in a batch");
    const std::vector<Method> methods = all_methods();
    const std::vector<Runs> runs = follow(kFileFraction, methods);
    Columns columns;
    for (std::size_t i = 0; i < methods.size(); ++i)
      columns.emplace_back(methods[i].name + ", times static", median(runs[i + 1].speedups));
    const auto count = static_cast<double>(runs[0].milliseconds.size());
    columns.emplace_back("dfp, % affected", 100 * runs.back().affected / count);
    columns.emplace_back("static, L1 error", runs.front().l1 / count);
    columns.emplace_back("dfp, L1 error", runs.back().l1 / count);
    columns.emplace_back("stored edges", static_cast<double>(graph_.edges()));
    tables_.put(name, runs[0].milliseconds, "ms of static", std::move(columns));
  }

  /// As published, one tolerance after the other; else both are as by default.
  void sweep() {
    std::vector<Method> methods;
    for (const bool frontier : {true, false}) {
      for (const double tolerance : kTolerances) {
        pagerank::DynamicRankOptions o{.affect_all = false};
        (frontier ? o.frontier_tolerance : o.prune_tolerance) = tolerance;
        methods.push_back({fmt::format("{} {:.0e}", frontier ? "frontier" : "prune", tolerance), o});
      }
    }
    batches_of(kSweptFraction, methods);
  }

 private:
  /// How many times as fast as static the last method is.
  double batches_of(double fraction, const std::vector<Method>& methods) {
    const std::vector<Runs> runs = follow(fraction, methods);
    put(fraction, "static", runs[0]);
    for (std::size_t i = 0; i < methods.size(); ++i) put(fraction, methods[i].name, runs[i + 1]);
    return median(runs.back().speedups);
  }

  /// Static, and then the methods, after batches of a size.
  std::vector<Runs> follow(double fraction, const std::vector<Method>& methods) {
    std::vector<pagerank::DynamicRankOptions> options;
    for (const Method& method : methods) options.push_back(method.options);
    ReplayMethods followers(device_, rank_, options, false, kWhole);
    followers.begin(graph_);
    std::vector<Runs> runs(methods.size() + 1);
    for (unsigned r = 0; r < tables_.options().repetitions; ++r) {
      tables_.measuring(batch_name(fraction));
      ReplayBatch batch;
      UpdateResult update = updated(fraction);
      followers.follow(update, batch);
      for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].add(batch.runs[i], batch.runs[0], static_cast<double>(update.graph.vertices()));
      graph_ = std::move(update.graph);
    }
    return runs;
  }

  /// A GPU's changes stay page-locked from batch to batch.
  UpdateResult updated(double fraction) {
    const unsigned threads = device_.is_cuda() ? usable_cores() : device_.threads();
    const UpdateBatch batch = random_batch(graph_, fraction, random_);
    return update_graph(std::move(graph_), batch, threads, nullptr, device_.is_cuda() ? &travel_ : nullptr);
  }

  void put(double fraction, const std::string& method, const Runs& runs) {
    const auto count = static_cast<double>(runs.milliseconds.size());
    tables_.put(batch_name(fraction) + ", " + method, runs.milliseconds, "ms",
                {{"times static", median(runs.speedups)},
                 {"iterations", runs.iterations / count},
                 {"% affected", 100 * runs.affected / count},
                 {"L1 error", runs.l1 / count},
                 {"largest error", runs.linf}});
  }

  Tables& tables_;
  Device& device_;
  Graph graph_;
  pagerank::Options rank_;
  RecycledMemory travel_{device_};
  std::mt19937_64 random_{7};
};

void random_batches(Tables& tables, Device& device, const char* kind, io::GraphKind of,
                    pagerank::Dangling dangling = pagerank::Dangling::self_loop) {
  const auto table = [&](const char* name, void (RandomBatches::*rows)()) {
    if (!tables.begin(fmt::format("DF-P {}, {}", name, kind))) return;
    Graph graph = tables.graph(kHostScale, kGpuScale, of);
    if (graph.directed && graph.in.offsets.empty()) return tables.put_words("graph", "has no in-edges");
    tables.on(kind, graph);
    (RandomBatches(tables, device, std::move(graph), dangling).*rows)();
  };
  if (dangling == pagerank::Dangling::uniform)
    return table("batches, dangling mass to all", &RandomBatches::run);
  table("batches", &RandomBatches::run);
  table("tolerances", &RandomBatches::sweep);
}

/// The graph's edges in order of time.
TemporalEdges in_order_of_time(const Graph& graph) {
  std::vector<EdgeIndex> order(graph.edges());
  std::iota(order.begin(), order.end(), EdgeIndex{0});
  std::ranges::stable_sort(order, {}, [&](EdgeIndex edge) { return graph.out.times[edge]; });
  std::vector<Vertex> source(graph.edges());
  for (Vertex v = 0; v < graph.vertices(); ++v)
    std::fill(source.begin() + graph.out.offsets[v], source.begin() + graph.out.offsets[v + 1], v);
  std::vector<Vertex> sources, targets;
  for (const EdgeIndex edge : order)
    sources.push_back(source[edge]), targets.push_back(graph.out.targets[edge]);
  return {graph.vertices(), std::move(sources), std::move(targets)};
}

/// The last tenth of the edges comes in batches: a row for each size of them.
void replays(Tables& tables, Device& device, pagerank::Dangling dangling, const std::string& name,
             const Graph& graph) {
  if (graph.edges() == 0) return tables.put_words(name, "has no edges");
  const TemporalEdges edges = in_order_of_time(graph);
  pagerank::Options rank;
  rank.dangling = dangling;
  for (const double fraction : kReplayFractions) {
    const std::string row = name + ", " + batch_name(fraction);
    tables.measuring(row);
    ReplayOptions options;  // of 0.9 of the edges, and 100 batches, as published
    options.batch_fraction = fraction;
    std::erase(options.methods, pagerank::RankMethod::residual_frontier);  // not published
    options.rules.affect_all = false;
    std::vector<Runs> runs(options.methods.size() + 1);
    replay(device, edges, rank, options, [&](const ReplayBatch& batch) {
      for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].add(batch.runs[i], batch.runs[0], static_cast<double>(graph.vertices()));
    });
    const auto sum = [](const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
    const Runs &anew = runs.front(), &dfp = runs.back();
    const auto count = static_cast<double>(anew.milliseconds.size());
    Columns columns;
    for (std::size_t i = 0; i < options.methods.size(); ++i)
      columns.emplace_back(
          fmt::format("{}, times static", apps::name_of(apps::kRankMethods, options.methods[i])),
          sum(anew.milliseconds) / sum(runs[i + 1].milliseconds));
    for (const auto& column : {std::pair("dfp, % affected", 100 * dfp.affected / count),
                               {"static, L1 error", anew.l1 / count},
                               {"dfp, L1 error", dfp.l1 / count},
                               {"batches", count}})
      columns.push_back(column);
    tables.put(row, anew.milliseconds, "ms of static", std::move(columns));
  }
}

/// What the suite of PageRank measures of them; static ranks are those of the same batches.
void splits(Tables& tables, Device& device) {
  if (!tables.begin("DF-P splits")) return;
  if (!device.is_cuda()) {
    for (const auto& split : apps::kRankSplits)
      tables.put_words(std::string("split ") + std::string(split.name), kNeedsGpu);
    return;
  }
  Options options = tables.options();
  options.wanted = [](const std::string& name) { return name.find(", splits") != name.npos; };
  Graph graph = tables.graph(kHostScale, kGpuScale);
  tables.on("Kronecker", graph);
  std::map<std::string, double> statics;
  for (const Figure& figure : run_dynamic_pagerank(device, options, "kronecker", std::move(graph))) {
    const std::string row = figure.name.substr(figure.name.find("batch"));
    const std::string batch = row.substr(0, row.find(','));
    if (row.ends_with(", static")) statics[batch] = figure.value;
    if (row.find(", update") != row.npos || row.find(", rewrite") != row.npos) continue;
    tables.put(row, {figure.low, figure.value, figure.high}, "ms",
               {{"times static", statics[batch] / figure.value}});
  }
}

}  // namespace

void run_dynamic_rank(Tables& tables, Device& device) {
  for (const auto dangling : {pagerank::Dangling::self_loop, pagerank::Dangling::uniform}) {
    random_batches(tables, device, "Kronecker", io::GraphKind::kronecker, dangling);
    if (tables.options().graph.empty()) random_batches(tables, device, "grid", io::GraphKind::grid, dangling);
  }
  tables.on_graphs("DF-P batches of graphs", false, [&](const std::string& name, Graph graph) {
    if (graph.directed && graph.in.offsets.empty()) return tables.put_words(name, "has no in-edges");
    RandomBatches(tables, device, std::move(graph)).row(name);
  });
  splits(tables, device);
  const auto on_graphs = [&](const char* table, pagerank::Dangling dangling) {
    tables.on_graphs(table, true, [&](const std::string& name, const Graph& graph) {
      replays(tables, device, dangling, name, graph);
    });
  };
  on_graphs("DF-P graphs", pagerank::Dangling::self_loop);
  on_graphs("DF-P graphs, dangling mass to all", pagerank::Dangling::uniform);
}

}  // namespace sluice::bench::papers
