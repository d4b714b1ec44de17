// sluice-bench ppr: personalized PageRank by all methods: queries a second in bulk, the time of a query
// alone, and the precision of its list.
#include "engine/ppr/ppr.hpp"

#include <algorithm>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/workload.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/evaluate.hpp"

namespace sluice::bench {

namespace {

/// Queries in bulk. A GPU needs some rounds of its blocks to be busy; the cores of a host need far fewer.
constexpr Instance kMinBulkQueries = 4096, kMinBulkQueriesOnHost = 200, kMaxBulkQueries = 50'000;
constexpr double kBulkSeconds = 0.5;       ///< slower methods get fewer queries in bulk
constexpr Instance kWarmUpQueries = 8;     ///< single queries before the measured ones
constexpr Instance kLatencyQueries = 200;  ///< single queries measured, for at most:
constexpr double kLatencySeconds = 1;
constexpr Instance kEvaluated = 500;  ///< queries compared with untruncated scores
/// Edges that may be read to find those scores, in all and per query. For larger graphs fewer queries are
/// compared, or none.
constexpr double kEvaluatedEdges = 4e9, kEvaluatedEdgesOnHost = 1e9, kEvaluatedEdgesOfOne = 5e8;
constexpr double kStepsToTheLimit = 113;  ///< 0.85^113 is kEvaluatedLimit

class PprSuite : SuiteFigures {
 public:
  PprSuite(Device& device, const Options& options)
      : SuiteFigures(device, options), graph_(load_graph(device, options)) {}

  std::vector<Figure> run() {
    add_graph_size(graph_);
    ppr::Options push;
    push.method = ppr::Method::push;
    for (const double threshold : {1e-4, 2e-5, 8e-6}) {
      push.residual_threshold = threshold;
      measure_method(text("push, threshold %.0e", threshold), push);
    }
    ppr::Options staged;
    staged.method = ppr::Method::staged;
    staged.unexpanded = ppr::Unexpanded::share;
    measure_method("meloppr, 3,3 at 10%", staged);
    staged.stages = {1, 1, 1, 1, 1, 1};
    staged.residual_threshold = 3e-4;
    measure_method("meloppr, threshold 3e-4 at every step", staged);
    ppr::Options exact;
    for (const std::uint32_t length : {6u, 12u, 14u}) {
      exact.length = length;
      measure_method(text("exact, %.0f steps", length), exact);
    }
    if (device_.is_cuda()) {
      for (const std::uint32_t length : {6u, 12u}) {
        exact.length = length;
        exact.state = ppr::State::sparse;
        measure_method(text("exact, %.0f steps, in tables", length), exact);
        exact.state = ppr::State::dense;
        measure_method(text("exact, %.0f steps, side by side", length), exact);
      }
    }
    return std::move(figures_);
  }

 private:
  void measure_method(const std::string& name, ppr::Options options) {
    if (!begin(name)) return;
    options.seed = options_.seed;
    const double edges = measure_throughput(name, options);
    measure_latency(name, options);
    measure_precision(name, options, edges);
  }

  /// Returns the mean number of edges per query. The first run allocates the queries' memory and makes
  /// in-edges; the second determines how many queries fit the time of a measurement.
  double measure_throughput(const std::string& name, const ppr::Options& options) {
    const Starts starts = random_starts(kMaxBulkQueries);
    const auto backend = make_ppr_backend(device_, graph_, starts, options, {}, kMaxBulkQueries);
    const Instance min_queries = device_.is_cuda() ? kMinBulkQueries : kMinBulkQueriesOnHost;
    run_ppr(*backend, {0, min_queries}, null_sink_);
    const double rate =
        static_cast<double>(min_queries) / run_ppr(*backend, {0, min_queries}, null_sink_).compute_seconds;
    const auto queries =
        static_cast<Instance>(std::clamp(rate * kBulkSeconds, 1.0 * min_queries, 1.0 * kMaxBulkQueries));
    std::vector<double> rates;
    ppr::Stats stats;
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      stats = run_ppr(*backend, {0, queries}, null_sink_);
      rates.push_back(static_cast<double>(queries) / stats.compute_seconds);
    }
    const double query_count = static_cast<double>(queries),
                 edges = static_cast<double>(stats.edges) / query_count;
    add_figure(name + ", in bulk", rates, "queries/s",
               text("%.0f queries, ", query_count) + text("%.0f edges and ", edges) +
                   text("%.0f vertices a query, ", static_cast<double>(stats.reached) / query_count) +
                   text("%.0f KB the largest", static_cast<double>(stats.peak_query_bytes) * 1e-3));
    return edges;
  }

  /// Measures a single query, from its seeds to its list in host memory.
  void measure_latency(const std::string& name, const ppr::Options& options) {
    const Starts starts = random_starts(kWarmUpQueries + kLatencyQueries);
    const auto backend = make_ppr_backend(device_, graph_, starts, options, {}, 1);
    const auto seconds_of = [&](Instance query) {
      return run_ppr(*backend, {query, query + 1}, null_sink_).compute_seconds;
    };
    double warm_up_seconds = 0, measured_seconds = 0;
    Instance query = 0;
    while (query < kWarmUpQueries && warm_up_seconds < kLatencySeconds)
      warm_up_seconds += seconds_of(query++);
    std::vector<double> times;
    while (times.empty() || (times.size() < kLatencyQueries && measured_seconds < kLatencySeconds)) {
      const double seconds = seconds_of(query++);
      measured_seconds += seconds;
      times.push_back(seconds * 1e3);
    }
    std::sort(times.begin(), times.end());
    const double p99 = times[times.size() * 99 / 100];
    add_figure(name + ", alone, p50", times, "ms");
    figures_.push_back({name + ", alone, p99", p99, "ms", p99, times.back(), {}});
  }

  void measure_precision(const std::string& name, const ppr::Options& options, double edges) {
    const double allowed = device_.is_cuda() ? kEvaluatedEdges : kEvaluatedEdgesOnHost;
    const double each = static_cast<double>(graph_.edges()) * kStepsToTheLimit + edges;
    const Starts starts =
        random_starts(static_cast<Instance>(std::min(static_cast<double>(kEvaluated), allowed / each)));
    if (starts.count == 0 || each > kEvaluatedEdgesOfOne) return;
    ppr::Evaluator evaluator(device_, graph_, starts, options, null_sink_);
    run_ppr(device_, graph_, starts, options, evaluator);
    const double queries = static_cast<double>(evaluator.queries());
    const double share = evaluator.limit().strict / queries;
    figures_.push_back({name + ", precision at " + std::to_string(options.top), share, "", share, share,
                        text("strict, against untruncated scores, %.0f queries", queries)});
  }

  Graph graph_;
  NullSink null_sink_;
};

}  // namespace

std::vector<Figure> run_ppr_suite(Device& device, const Options& options) {
  return PprSuite(device, options).run();
}

}  // namespace sluice::bench
