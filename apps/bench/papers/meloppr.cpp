// MeLoPPR's experiments (DAC'21): precision by the share of next-stage vertices (Fig. 6), memory and time
// compared with the search in one stage (Table II, Fig. 7), and concurrent queries (Fig. 5).
#include <fmt/core.h>

#include <algorithm>

#include "apps/bench/papers/meloppr.hpp"
#include "apps/bench/papers/published_memory.hpp"
#include "apps/bench/workload.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/evaluate.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::bench::papers {

namespace {

constexpr double kShares[] = {0.01, 0.02, 0.03, 0.1, 0.2, 0.3};
constexpr Instance kEvaluated = 30, kEvaluatedOnGpu = 500;
constexpr Instance kQueries = 1000, kQueriesOnGpu = 4096;
constexpr Instance kLatencyQueries = 8;  ///< queries one after the other
constexpr std::uint32_t kMaxBalls = 16;  ///< concurrent balls of a query
constexpr std::uint32_t kTables[] = {1, 4, 10};
constexpr std::uint64_t kPublishedTable = 10 * 200;  ///< c = 10, k = 200

struct Setting {
  const char* name;
  double alpha;
  std::uint32_t top;
};
/// The setting of the paper, and that of its public code.
constexpr Setting kSettings[] = {{"alpha 0.85, k 200", 0.85, 200}, {"alpha 0.95, k 100", 0.95, 100}};

class MeloPpr {
 public:
  MeloPpr(Tables& tables, Device& device, const char* name, io::GraphKind kind,
          unsigned gpu_scale = kMelopprGpuScale)
      : tables_(tables), device_(device), name_(name), kind_(kind), gpu_scale_(gpu_scale) {}

  void run() {
    if (begin(", precision")) precision();
    if (begin(", memory and time")) memory_and_time();
    if (begin(", memory as published")) counted_as_published();
    if (begin(", integers")) add_meloppr_integers(tables_, device_, graph_);
  }

  /// For a given graph: one row in each table.
  MeloPpr(Tables& tables, Device& device, const std::string& name, Graph graph)
      : tables_(tables), device_(device), name_(name), graph_(std::move(graph)) {}

  /// Precision by share: strict as in Fig. 6, and lenient as in the paper's public code.
  void precision_rows() {
    for (const Setting& setting : kSettings) {
      const std::string row = fmt::format("{}, {}", name_, setting.name);
      ppr::Options o = six_steps(ppr::Method::staged);
      o.alpha = setting.alpha, o.top = setting.top;
      std::vector<std::pair<std::string, std::vector<double>>> strict, lenient;
      for (const double share : kShares) {
        o.expand = share;
        const ppr::Precision found = evaluated(row, o).truncated;
        const std::string column = fmt::format("% at {:.0f}%", 100 * share);
        strict.push_back({column, {found.strict}}), lenient.push_back({column, {found.lenient}});
      }
      tables_.add_row_of_cells(row + ", strict", "% at 1%", std::move(strict), graph_);
      tables_.add_row_of_cells(row + ", lenient", "% at 1%", std::move(lenient), graph_);
    }
  }

  /// Memory as the paper counts it, and time, of one stage and of two stages at 10%.
  void cost_row() {
    const Device host({.choice = DeviceChoice::host, .threads = device_.threads()});
    PublishedMemory published(host, graph_);
    const Counted one = counted(published, name_, 1), two = counted(published, name_, 0.1);
    ppr::Options o = six_steps(ppr::Method::exact);
    o.state = ppr::State::sparse;
    const double one_stage = median(measure(name_, o).microseconds);
    o = six_steps(ppr::Method::staged), o.expand = 0.1;
    const double staged = median(measure(name_, o).microseconds);
    tables_.add_row_of_cells(name_, "MB at most, one stage",
                             {{"", {one.most * 1e-6}},
                              {"MB at most, 3,3 at 10%", {two.most * 1e-6}},
                              {"times less, mean of queries", {two.times_less}},
                              {"us a query, one stage", {one_stage}},
                              {"us a query, 3,3 at 10%", {staged}},
                              {"times as fast", {one_stage / staged}}},
                             graph_);
  }

  /// Measures concurrent balls of a query, and concurrent queries.
  void run_parallelism() {
    if (begin(", parallelism")) parallelism();
  }

 private:
  bool begin(const char* what) {
    if (!tables_.begin(fmt::format("MeLoPPR {}{}", name_, what))) return false;
    if (graph_.edges() == 0) graph_ = tables_.graph(kMelopprHostScale, gpu_scale_, kind_, kMelopprEdgeFactor);
    tables_.set_graph(fmt::format("{} of edge factor {}", name_, kMelopprEdgeFactor), graph_);
    return true;
  }

  ppr::Stats run_queries(const Device& device, Instance queries, ppr::Options o) {
    o.seed = tables_.options().seed;
    return ppr::run_ppr(device, graph_, random_starts(queries), o, null_sink_);
  }

  void precision() {
    for (const Setting& setting : kSettings) {
      ppr::Options o = six_steps(ppr::Method::exact);
      o.alpha = setting.alpha, o.top = setting.top;
      evaluate(std::string(setting.name) + ", one stage", o);
      o = six_steps(ppr::Method::staged);
      o.alpha = setting.alpha, o.top = setting.top;
      for (const double share : kShares) {
        o.expand = share;
        evaluate(fmt::format("{}, {:.0f}%", setting.name, 100 * share), o);
      }
      o.expand = 0.1, o.one_by_one = true, o.table_limit = ppr::TableLimit::hard;
      for (const std::uint32_t table : kTables) {
        o.table = table;
        evaluate(fmt::format("{}, 10%, a table of {} k", setting.name, table), o);
      }
    }
  }

  /// The precision of lists, strict and over vertices with a score only, against one stage and against
  /// untruncated scores.
  void evaluate(const std::string& row, const ppr::Options& o) {
    const auto [truncated, limit] = evaluated(row, o);
    tables_.add_row(row, {truncated.strict}, "%",
                    {{"% of scored", truncated.of_scored},
                     {"% lenient", truncated.lenient},
                     {"% of the limit", limit.strict},
                     {"% of the limit's scored", limit.of_scored}});
  }

  struct Precisions {
    ppr::Precision truncated, limit;  ///< in percent
  };

  Precisions evaluated(const std::string& row, ppr::Options o) {
    tables_.report_progress(row);
    o.seed = tables_.options().seed;
    const Starts starts = random_starts(device_.is_cuda() ? kEvaluatedOnGpu : kEvaluated);
    ppr::Evaluator evaluator(device_, graph_, starts, o, null_sink_);
    ppr::run_ppr(device_, graph_, starts, o, evaluator);
    const double percent = 100 / static_cast<double>(evaluator.queries());
    Precisions found{evaluator.truncated(), evaluator.limit()};
    for (ppr::Precision* const sums : {&found.truncated, &found.limit})
      sums->strict *= percent, sums->of_scored *= percent, sums->lenient *= percent;
    return found;
  }

  void memory_and_time() {
    ppr::Options single = six_steps(ppr::Method::exact);
    single.state = ppr::State::sparse;  // as in the paper and the stages
    const Cost baseline = measure("one stage, in a table", single);
    add_row("one stage, in a table", baseline, baseline);
    single.state = ppr::State::automatic;
    cost("one stage, as Sluice chooses", single, baseline);
    ppr::Options staged = six_steps(ppr::Method::staged);
    for (const double share : {0.3, 0.1, 0.01}) {
      staged.expand = share;
      cost(fmt::format("3,3 at {:.0f}%", 100 * share), staged, baseline);
    }
    staged.one_by_one = true;
    cost("3,3 at 1%, one by one", staged, baseline);
    staged.table_limit = ppr::TableLimit::hard;
    for (const std::uint32_t table : kTables) {
      staged.table = table;
      cost(fmt::format("3,3 at 1%, one by one, a table of {} k", table), staged, baseline);
    }
  }

  /// Measures each query alone.
  void counted_as_published() {
    const Device host({.choice = DeviceChoice::host, .threads = device_.threads()});
    PublishedMemory published(host, graph_);
    const auto row = [&](const std::string& name, double share) {
      const Counted counts = counted(published, name, share);
      tables_.add_row(name, {counts.mean * 1e-3}, "KB a query",
                      {{"KB at most", counts.most * 1e-3},
                       {"times less, mean of queries", counts.times_less},
                       {"KB of Sluice's sub-graph", counts.sub_graph * 1e-3},
                       {"times less KB of it", counts.sub_graph_times_less}});
    };
    row("one stage", 1);
    for (const double share : {0.1, 0.01}) row(fmt::format("3,3 at {:.0f}%", 100 * share), share);
  }

  /// Bytes per query.
  struct Counted {
    double mean = 0, most = 0, times_less = 0;
    double sub_graph = 0, sub_graph_times_less = 0;  ///< means of the largest sub-graph that Sluice extracts
  };

  /// A `share` of 1 means one stage.
  Counted counted(PublishedMemory& published, const std::string& row, double share) const {
    tables_.report_progress(row);
    Counted counts;
    for (Instance q = 0; q < kCounted; ++q) {
      const Vertex seed = seed_of(q);
      const auto one_stage = published.one_stage(seed, 6);
      const auto own = share == 1 ? one_stage : published.two_stages(seed, 3, share, kPublishedTable);
      const auto bytes = static_cast<double>(own.published), extracted = static_cast<double>(own.sub_graph);
      counts.mean += bytes / kCounted, counts.sub_graph += extracted / kCounted;
      counts.times_less += static_cast<double>(one_stage.published) / bytes / kCounted;
      counts.sub_graph_times_less += static_cast<double>(one_stage.sub_graph) / extracted / kCounted;
      counts.most = std::max(counts.most, bytes);
    }
    return counts;
  }

  Vertex seed_of(Instance query) const {
    ppr::Seeds seeds;
    seeds.assign(random_starts(kCounted), graph_.vertices(), tables_.options().seed, query);
    return seeds.all()[0].vertex;
  }

  struct Cost {
    std::vector<double> microseconds;
    double mean_kb = 0, most_kb = 0;
  };

  Instance queries_of(const ppr::Options& o) const {
    if (o.one_by_one) return device_.is_cuda() ? kOneByOneOnGpu : kOneByOne;
    return device_.is_cuda() ? kQueriesOnGpu : kQueries;
  }

  /// Measures after a first run, which allocates the queries' memory.
  Cost measure(const std::string& row, const ppr::Options& o) {
    tables_.report_progress(row);
    Cost cost;
    cost.microseconds = repeated(tables_.options().repetitions, [&] {
      const ppr::Stats stats = run_queries(device_, queries_of(o), o);
      const auto queries = static_cast<double>(stats.queries);
      cost.mean_kb = static_cast<double>(stats.query_bytes) / queries * 1e-3;
      cost.most_kb = static_cast<double>(stats.peak_query_bytes) * 1e-3;
      return stats.compute_seconds / queries * 1e6;
    });
    return cost;
  }

  void add_row(const std::string& row, const Cost& cost, const Cost& baseline) {
    tables_.add_row(row, cost.microseconds, "us a query",
                    {{"times one stage", median(baseline.microseconds) / median(cost.microseconds)},
                     {"KB a query", cost.mean_kb},
                     {"times less KB", ratio(baseline.mean_kb, cost.mean_kb)},
                     {"KB at most", cost.most_kb},
                     {"times less at most", ratio(baseline.most_kb, cost.most_kb)}});
  }

  void cost(const std::string& row, const ppr::Options& o, const Cost& baseline) {
    add_row(row, measure(row, o), baseline);
  }

  void parallelism() {
    balls();
    if (device_.is_cuda()) return;  // a GPU always runs one query per block
    const ppr::Options o = six_steps(ppr::Method::staged);
    double one_query_rate = 0;
    for (unsigned p = 1; p <= std::min(device_.threads(), 16u); p *= 2) {
      const std::string row = fmt::format("{} {} side by side", p, p == 1 ? "query" : "queries");
      tables_.report_progress(row);
      const Device host({.choice = DeviceChoice::host, .threads = p});
      const auto rates = repeated(tables_.options().repetitions, [&] {
        const ppr::Stats stats = run_queries(host, kQueries, o);
        return static_cast<double>(stats.queries) / stats.compute_seconds;
      });
      if (p == 1) one_query_rate = median(rates);
      const double rate = median(rates);
      tables_.add_row(row, rates, "queries/s", {{"times one", rate / one_query_rate}});
    }
  }

  /// Measures the milliseconds of queries one after the other.
  void balls() {
    ppr::Options single = six_steps(ppr::Method::exact);
    single.state = ppr::State::sparse;
    const double baseline = latency("one query, one stage", single, 0, 0);
    ppr::Options staged = six_steps(ppr::Method::staged);
    latency("one query, 3,3 at 10%, balls merged", staged, baseline, 0);
    staged.one_by_one = true;
    for (const std::uint32_t table : {0u, 10u}) {
      if (table != 0) staged.table_limit = ppr::TableLimit::hard, staged.table = table;
      const std::string table_text = table == 0 ? "" : fmt::format(", a table of {} k", table);
      double one_ball_milliseconds = 0;
      for (staged.balls = 1; staged.balls <= kMaxBalls; staged.balls *= 2) {
        const double milliseconds =
            latency(fmt::format("one query, 3,3 at 10%{}, P of {}", table_text, staged.balls), staged,
                    baseline, one_ball_milliseconds);
        if (staged.balls == 1) one_ball_milliseconds = milliseconds;
      }
    }
  }

  double latency(const std::string& row, ppr::Options o, double one_stage, double one_ball) {
    tables_.report_progress(row);
    o.seed = tables_.options().seed;
    const Starts starts = random_starts(kLatencyQueries);
    const auto backend = ppr::make_ppr_backend(device_, graph_, starts, o, {}, 1);
    const auto milliseconds = repeated(tables_.options().repetitions, [&] {
      double seconds = 0;
      for (Instance q = 0; q < kLatencyQueries; ++q)
        seconds += ppr::run_ppr(*backend, {q, q + 1}, null_sink_).compute_seconds;
      return seconds / kLatencyQueries * 1e3;
    });
    const double middle = median(milliseconds);
    Columns columns{{"times one stage", one_stage > 0 ? one_stage / middle : 1}};
    if (o.one_by_one) columns.emplace_back("times P of 1", one_ball > 0 ? one_ball / middle : 1);
    tables_.add_row(row, milliseconds, "ms a query", std::move(columns));
    return middle;
  }

  Tables& tables_;
  Device& device_;
  std::string name_;
  io::GraphKind kind_ = io::GraphKind::kronecker;
  unsigned gpu_scale_ = kMelopprGpuScale;
  NullSink null_sink_;
  Graph graph_;
};

}  // namespace

void run_meloppr(Tables& tables, Device& device) {
  MeloPpr(tables, device, "Kronecker", io::GraphKind::kronecker).run();
  if (tables.options().graph.empty()) MeloPpr(tables, device, "uniform", io::GraphKind::uniform).run();
  // One query uses little of a GPU, so the graph has the host's size.
  MeloPpr(tables, device, "Kronecker", io::GraphKind::kronecker, kMelopprHostScale).run_parallelism();
  const auto rows = [&](const char* table, void (MeloPpr::*row)()) {
    on_meloppr_graphs(tables, table, [&](const std::string& name, Graph graph) {
      MeloPpr on_graph(tables, device, name, std::move(graph));
      (on_graph.*row)();
    });
  };
  rows("MeLoPPR graphs, precision", &MeloPpr::precision_rows);
  rows("MeLoPPR graphs, memory and time", &MeloPpr::cost_row);
  run_meloppr_sub_graphs(tables, device);
}

}  // namespace sluice::bench::papers
