// Sahu's experiments (DF-P PageRank, 2024): every method with random batches of 1e-7 to 1e-1 of the edges
// (Fig. 4 and 5), temporal graphs, tolerances, and the ways to split DF-P's work (Fig. 1).
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <span>

#include "apps/bench/papers/tables.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/replay/recycled_memory.hpp"
#include "apps/bench/replay/replay.hpp"
#include "apps/bench/workload.hpp"
#include "apps/cli/names.hpp"

namespace sluice::bench::papers {

namespace {

constexpr double kFractions[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
constexpr unsigned kHostScale = 16, kGpuScale = 22;
/// For graph files; for temporal graphs these are the paper's fractions.
constexpr double kFileFractions[] = {1e-5, 1e-4, 1e-3};
constexpr double kTolerances[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}, kSweptFractions[] = {1e-6, 1e-5, 1e-4};
constexpr double kSplitFractions[] = {1e-6, 1e-4};
const pagerank::RankPlace kWhole{.paging = {.partitions = 1}};

/// What happens to the rank of vertices without out-edges: the paper adds self-loops.
struct DanglingRule {
  pagerank::Dangling dangling;
  std::string name, table;  ///< table: suffix of a table's name
};
const DanglingRule kDanglingRules[] = {
    {pagerank::Dangling::self_loop, "self-loops", ""},
    {pagerank::Dangling::uniform, "dangling mass to all", ", dangling mass to all"}};

struct Method {
  std::string name;
  pagerank::DynamicRankOptions options;
};
using Methods = std::vector<Method>;

Methods all_methods() {
  Methods methods;
  for (const auto method : {pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
                            pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier})
    methods.push_back({std::string(apps::name_of(apps::kRankMethods, method)), {method}});
  methods.back().name = "dfp with the shortcut";
  methods.push_back({"dfp as published", {.affect_all = false}});
  return methods;
}

/// Varies one tolerance at a time; the other has its default.
Methods tolerances() {
  Methods methods;
  for (const bool frontier : {true, false}) {
    for (const double tolerance : kTolerances) {
      pagerank::DynamicRankOptions o{.affect_all = false};
      (frontier ? o.frontier_tolerance : o.prune_tolerance) = tolerance;
      methods.push_back({fmt::format("{} {:.0e}", frontier ? "frontier" : "prune", tolerance), o});
    }
  }
  return methods;
}

Methods ways_to_split() {
  Methods methods;
  for (const auto& split : apps::kRankSplits)
    methods.push_back({fmt::format("split {}", split.name), {.split = split.value, .affect_all = false}});
  return methods;
}

/// The runs of static PageRank, or of one method, for batches of one size.
struct Runs {
  std::vector<double> milliseconds;
  double iterations = 0, affected = 0, linf = 0, l1 = 0;  ///< sums; linf: maximum

  void add(const ReplayRun& run, std::uint64_t vertices) {
    milliseconds.push_back(run.seconds * 1e3);
    iterations += run.iterations;
    affected += static_cast<double>(run.ever_affected) / static_cast<double>(vertices);
    linf = std::max(linf, run.linf);
    l1 += run.l1;
  }
  double mean(double sum) const { return sum / static_cast<double>(milliseconds.size()); }
  double times(const Runs& static_runs) const {
    const auto sum = [](const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
    return sum(static_runs.milliseconds) / sum(milliseconds);
  }
};

/// `runs` has static PageRank first, then the methods.
void add_batch(std::vector<Runs>& runs, const ReplayBatch& batch, std::uint64_t vertices) {
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].add(batch.runs[i], vertices);
}

/// Adds a row: static PageRank, and the methods compared with it. `dfp` is the last method.
void add_runs(Tables& tables, const std::string& row, const Methods& methods, const std::vector<Runs>& runs,
              const Columns& more) {
  const Runs &static_runs = runs.front(), &dfp = runs.back();
  Columns columns;
  for (std::size_t i = 0; i < methods.size(); ++i)
    columns.emplace_back(methods[i].name + ", times static", runs[i + 1].times(static_runs));
  for (const auto& column : {std::pair("static, iterations", static_runs.mean(static_runs.iterations)),
                             {"dfp, iterations", dfp.mean(dfp.iterations)},
                             {"dfp, % affected", 100 * dfp.mean(dfp.affected)},
                             {"static, L1 error", static_runs.mean(static_runs.l1)},
                             {"dfp, L1 error", dfp.mean(dfp.l1)}})
    columns.push_back(column);
  std::ranges::copy(more, std::back_inserter(columns));
  tables.add_row(row, static_runs.milliseconds, "ms of static", std::move(columns));
}

/// Changes one graph, batch after batch.
class RandomBatches {
 public:
  RandomBatches(Tables& tables, Device& device, Graph graph)
      : tables_(tables), device_(device), graph_(std::move(graph)) {}

  const Graph& graph() const { return graph_; }
  void set_dangling(pagerank::Dangling dangling) { rank_.dangling = dangling; }

  struct Size {
    std::string name;  ///< `batch 1e-06`
    std::vector<Runs> runs;
  };

  /// Adds a row per size; each row's name begins with `name`.
  std::vector<Size> rows(const std::string& name, std::span<const double> fractions, const Methods& methods,
                         const Columns& more = {}) {
    std::vector<Size> sizes = follow(name, fractions, methods);
    for (const Size& size : sizes) add_runs(tables_, name + size.name, methods, size.runs, more);
    return sizes;
  }

  /// Measures all methods and sizes; the errors have their own table.
  void all(const std::string& table, const char* kind) {
    const Methods methods = all_methods();
    const std::vector<Size> sizes = rows("", kFractions, methods);
    if (sizes.empty()) return;
    double times = 0;
    for (const Size& size : sizes) times += size.runs.back().times(size.runs.front());
    tables_.add_row("mean of these sizes, dfp as published", {times / static_cast<double>(sizes.size())},
                    "times static");
    tables_.begin(table + ", errors");  // the same runs give the errors
    tables_.set_graph(kind, graph_.vertices(), edges_);
    for (const auto& [name, runs] : sizes) {
      Columns columns;
      for (std::size_t i = 0; i < methods.size(); ++i)
        columns.emplace_back(methods[i].name, runs[i + 1].mean(runs[i + 1].l1));
      columns.emplace_back("static, of the worst vertex", runs.front().linf);
      columns.emplace_back("dfp, of the worst vertex", runs.back().linf);
      tables_.add_row(name, {runs.front().mean(runs.front().l1)}, "in L1, static", std::move(columns));
    }
  }

  /// Adds a row per tolerance, compared with static PageRank.
  void sweep() {
    const Methods methods = tolerances();
    const std::vector<Size> sizes = follow("", kSweptFractions, methods);
    for (std::size_t i = 0; !sizes.empty() && i <= methods.size(); ++i) {
      Columns times, errors;
      for (const auto& [name, runs] : sizes) {
        times.emplace_back(name + ", ms", median(runs[i].milliseconds));
        errors.emplace_back(name + ", L1 error", runs[i].mean(runs[i].l1));
      }
      times.erase(times.begin());
      std::ranges::copy(errors, std::back_inserter(times));
      tables_.add_row(i == 0 ? "static" : methods[i - 1].name, sizes.front().runs[i].milliseconds,
                      ("ms, " + sizes.front().name).c_str(), std::move(times));
    }
  }

 private:
  /// Adds a remark for sizes of less than one edge.
  std::vector<Size> follow(const std::string& name, std::span<const double> fractions,
                           const Methods& methods) {
    std::vector<Size> sizes;
    for (const double fraction : fractions) {
      const std::string size = batch_name(fraction);
      if (batch_lines(graph_, fraction) < 1)
        tables_.add_text(name + size, "less than an edge of this graph");
      else
        sizes.push_back({size, follow(name + size, fraction, methods)});
    }
    return sizes;
  }

  /// Runs static PageRank and then the methods after batches of one size.
  std::vector<Runs> follow(const std::string& row, double fraction, const Methods& methods) {
    std::vector<pagerank::DynamicRankOptions> options;
    for (const Method& method : methods) options.push_back(method.options);
    ReplayMethods followers(device_, rank_, options, false, kWhole);
    followers.begin(graph_);
    std::vector<Runs> runs(methods.size() + 1);
    for (unsigned r = 0; r < tables_.options().repetitions; ++r) {
      tables_.report_progress(row);
      ReplayBatch batch;
      UpdateResult update = updated(fraction);
      followers.follow(update, batch);
      add_batch(runs, batch, update.graph.vertices());
      graph_ = std::move(update.graph);
    }
    return runs;
  }

  /// Memory for a GPU's changes stays page-locked from batch to batch.
  UpdateResult updated(double fraction) {
    const UpdateBatch batch = random_batch(graph_, fraction, random_);
    return update_graph(std::move(graph_), batch, host_threads(device_), nullptr,
                        device_.is_cuda() ? &travel_ : nullptr);
  }

  Tables& tables_;
  Device& device_;
  Graph graph_;
  std::uint64_t edges_ = graph_.edges();  ///< before the first batch
  pagerank::Options rank_;
  RecycledMemory travel_{device_};
  std::mt19937_64 random_{7};
};

bool has_in_edges(const Graph& graph) {
  return !graph.directed || !graph.in.offsets.empty();
}

void on_generated(Tables& tables, Device& device, const char* kind, io::GraphKind of) {
  const auto table = [&](const std::string& name, const DanglingRule& rule, const auto& rows) {
    if (!tables.begin(name)) return;
    RandomBatches batches(tables, device, tables.graph(kHostScale, kGpuScale, of));
    if (!has_in_edges(batches.graph())) return tables.add_text("graph", "has no in-edges");
    tables.set_graph(kind, batches.graph());
    batches.set_dangling(rule.dangling);
    rows(batches, name);
  };
  for (const DanglingRule& rule : kDanglingRules)
    table(fmt::format("DF-P batches{}, {}", rule.table, kind), rule,
          [&](RandomBatches& batches, const std::string& name) { batches.all(name, kind); });
  table(fmt::format("DF-P tolerances, {}", kind), kDanglingRules[0],
        [](RandomBatches& batches, const std::string&) { batches.sweep(); });
}

/// Fig. 1, with a row for each size of batches.
void split_rows(RandomBatches& batches, const std::string& before, Columns columns = {}) {
  for (const DanglingRule& rule : kDanglingRules) {
    batches.set_dangling(rule.dangling);
    batches.rows(before + rule.name + ", ", kSplitFractions, ways_to_split(), columns);
  }
}

void splits(Tables& tables, Device& device, const char* table, const char* kind, io::GraphKind of) {
  if (!tables.begin(table)) return;
  if (!tables.has_gpu("all")) return;
  RandomBatches batches(tables, device, tables.graph(kHostScale, kGpuScale, of));
  tables.set_graph(kind, batches.graph());
  split_rows(batches, "");
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

/// Replays the last tenth of the edges in batches: a row for each size of batches.
void replays(Tables& tables, Device& device, pagerank::Dangling dangling, const std::string& name,
             const Graph& graph) {
  if (graph.edges() == 0) return tables.add_text(name, "has no edges");
  const TemporalEdges edges = in_order_of_time(graph);
  pagerank::Options rank;
  rank.dangling = dangling;
  ReplayOptions options;  // 0.9 of the edges first, then 100 batches, as published
  std::erase(options.methods, pagerank::RankMethod::residual_frontier);  // not published
  options.rules.affect_all = false;
  Methods methods;
  for (const auto method : options.methods)
    methods.push_back({std::string(apps::name_of(apps::kRankMethods, method)), {}});
  for (const double fraction : kFileFractions) {
    const std::string row = name + ", " + batch_name(fraction);
    tables.report_progress(row);
    options.batch_fraction = fraction;
    std::vector<Runs> runs(methods.size() + 1);
    replay(device, edges, rank, options,
           [&](const ReplayBatch& batch) { add_batch(runs, batch, graph.vertices()); });
    add_runs(tables, row, methods, runs,
             {{"batches", static_cast<double>(runs.front().milliseconds.size())}});
  }
}

}  // namespace

void run_dynamic_rank(Tables& tables, Device& device) {
  on_generated(tables, device, "Kronecker", io::GraphKind::kronecker);
  if (tables.options().graph.empty()) on_generated(tables, device, "grid", io::GraphKind::grid);
  splits(tables, device, "DF-P splits", "Kronecker", io::GraphKind::kronecker);
  if (tables.options().graph.empty())
    splits(tables, device, "DF-P splits, grid", "grid", io::GraphKind::grid);
  tables.for_each_graph_file("DF-P splits of graphs", false, [&](const std::string& name, Graph graph) {
    if (!tables.has_gpu(name)) return;
    if (!has_in_edges(graph)) return tables.add_text(name, "has no in-edges");
    const Columns size{{"stored edges", static_cast<double>(graph.edges())}};
    RandomBatches batches(tables, device, std::move(graph));
    split_rows(batches, name + ", ", size);
  });
  for (const DanglingRule& rule : kDanglingRules) {
    tables.for_each_graph_file("DF-P batches of graphs" + rule.table, false,
                               [&](const std::string& name, Graph graph) {
                                 if (!has_in_edges(graph)) return tables.add_text(name, "has no in-edges");
                                 const Columns size{{"stored edges", static_cast<double>(graph.edges())}};
                                 RandomBatches batches(tables, device, std::move(graph));
                                 batches.set_dangling(rule.dangling);
                                 batches.rows(name + ", ", kFileFractions, all_methods(), size);
                               });
    tables.for_each_graph_file("DF-P graphs" + rule.table, true,
                               [&](const std::string& name, const Graph& graph) {
                                 replays(tables, device, rule.dangling, name, graph);
                               });
  }
}

}  // namespace sluice::bench::papers
