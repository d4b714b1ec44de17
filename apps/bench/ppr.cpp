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
constexpr Instance kLeastInBulk = 4096, kLeastInBulkOnHost = 200, kInBulk = 50'000;
constexpr double kBulkSeconds = 0.5;   ///< slower methods get fewer queries in bulk
constexpr Instance kWarmingAlone = 8;  ///< single queries before the measured ones
constexpr Instance kAlone = 200;       ///< single queries measured, for at most:
constexpr double kAloneSeconds = 1;
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
    describe(graph_);
    ppr::Options push;
    push.method = ppr::Method::push;
    for (const double threshold : {1e-4, 2e-5, 8e-6}) {
      push.residual_threshold = threshold;
      method(text("push, threshold %.0e", threshold), push);
    }
    ppr::Options staged;
    staged.method = ppr::Method::staged;
    staged.unexpanded = ppr::Unexpanded::share;
    method("meloppr, 3,3 at 10%", staged);
    staged.stages = {1, 1, 1, 1, 1, 1};
    staged.residual_threshold = 3e-4;
    method("meloppr, threshold 3e-4 at every step", staged);
    ppr::Options exact;
    for (const std::uint32_t length : {6u, 12u, 14u}) {
      exact.length = length;
      method(text("exact, %.0f steps", length), exact);
    }
    if (device_.is_cuda()) {
      for (const std::uint32_t length : {6u, 12u}) {
        exact.length = length;
        exact.state = ppr::State::sparse;
        method(text("exact, %.0f steps, in tables", length), exact);
        exact.state = ppr::State::dense;
        method(text("exact, %.0f steps, side by side", length), exact);
      }
    }
    return std::move(figures_);
  }

 private:
  void method(const std::string& name, ppr::Options options) {
    if (!begin(name)) return;
    options.seed = options_.seed;
    const double edges = in_bulk(name, options);
    alone(name, options);
    precision(name, options, edges);
  }

  /// Returns the mean number of edges per query. The first run allocates the queries' memory and makes
  /// in-edges; the second determines how many queries fit the time of a measurement.
  double in_bulk(const std::string& name, const ppr::Options& options) {
    const Starts starts = random_starts(kInBulk);
    const auto backend = make_ppr_backend(device_, graph_, starts, options, {}, kInBulk);
    const Instance least = device_.is_cuda() ? kLeastInBulk : kLeastInBulkOnHost;
    run_ppr(*backend, {0, least}, nothing_);
    const double rate = static_cast<double>(least) / run_ppr(*backend, {0, least}, nothing_).compute_seconds;
    const auto queries = static_cast<Instance>(std::clamp(rate * kBulkSeconds, 1.0 * least, 1.0 * kInBulk));
    std::vector<double> rates;
    ppr::Stats stats;
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      stats = run_ppr(*backend, {0, queries}, nothing_);
      rates.push_back(static_cast<double>(queries) / stats.compute_seconds);
    }
    const double asked = static_cast<double>(queries), edges = static_cast<double>(stats.edges) / asked;
    put(name + ", in bulk", rates, "queries/s",
        text("%.0f queries, ", asked) + text("%.0f edges and ", edges) +
            text("%.0f vertices a query, ", static_cast<double>(stats.reached) / asked) +
            text("%.0f KB the largest", static_cast<double>(stats.peak_query_bytes) * 1e-3));
    return edges;
  }

  /// Measures a single query, from its seeds to its list in host memory.
  void alone(const std::string& name, const ppr::Options& options) {
    const Starts starts = random_starts(kWarmingAlone + kAlone);
    const auto backend = make_ppr_backend(device_, graph_, starts, options, {}, 1);
    const auto seconds_of = [&](Instance query) {
      return run_ppr(*backend, {query, query + 1}, nothing_).compute_seconds;
    };
    double warming = 0, all = 0;
    Instance query = 0;
    while (query < kWarmingAlone && warming < kAloneSeconds) warming += seconds_of(query++);
    std::vector<double> times;
    while (times.empty() || (times.size() < kAlone && all < kAloneSeconds)) {
      const double seconds = seconds_of(query++);
      all += seconds;
      times.push_back(seconds * 1e3);
    }
    std::sort(times.begin(), times.end());
    const double late = times[times.size() * 99 / 100];
    put(name + ", alone, p50", times, "ms");
    figures_.push_back({name + ", alone, p99", late, "ms", late, times.back(), {}});
  }

  void precision(const std::string& name, const ppr::Options& options, double edges) {
    const double allowed = device_.is_cuda() ? kEvaluatedEdges : kEvaluatedEdgesOnHost;
    const double each = static_cast<double>(graph_.edges()) * kStepsToTheLimit + edges;
    const Starts starts =
        random_starts(static_cast<Instance>(std::min(static_cast<double>(kEvaluated), allowed / each)));
    if (starts.count == 0 || each > kEvaluatedEdgesOfOne) return;
    ppr::Evaluator evaluator(device_, graph_, starts, options, nothing_);
    run_ppr(device_, graph_, starts, options, evaluator);
    const double queries = static_cast<double>(evaluator.queries());
    const double share = evaluator.limit().strict / queries;
    figures_.push_back({name + ", precision at " + std::to_string(options.top), share, "", share, share,
                        text("strict, against untruncated scores, %.0f queries", queries)});
  }

  Graph graph_;
  NoScores nothing_;
};

}  // namespace

std::vector<Figure> run_ppr_suite(Device& device, const Options& options) {
  return PprSuite(device, options).run();
}

}  // namespace sluice::bench
