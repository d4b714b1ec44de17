// sluice-bench acc: searches, shortest paths, cores, components and beliefs on a Graph500 Kronecker graph,
// and a search on a grid, which has many small rounds. On a GPU also searches with other filters and fusions.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/limits.hpp"
#include "apps/bench/workload.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice::bench {

namespace {

constexpr unsigned kSources = 16;
constexpr unsigned kBeliefRounds = 10, kBeliefRoundsOnHost = 1;  ///< seconds each
/// Bytes that a round of two states moves for an edge, at least: target, weight and reverse edge; the
/// incoming message of the edge, and its outgoing message, written and read again by the receiver.
constexpr double kBeliefBytes = 4 + 4 + 8 + 3 * 2 * 8;

class AccSuite : SuiteFigures {
 public:
  AccSuite(Device& device, const Options& options) : SuiteFigures(device, options) {}

  std::vector<Figure> run() {
    {
      Lazy<acc::AccGraph> on_device([this] {
        return std::make_unique<acc::AccGraph>(device_, *graph_,
                                               acc::AccNeeds{.in_edges = true, .weights = true});
      });
      const std::string sources = text("%.0f sources", kSources);
      measure_bfs(on_device, "bfs, " + sources, {});
      if (device_.is_cuda()) ablations(on_device);
      measure_sssp(on_device, "sssp, " + sources);
      measure_program("wcc", [&] { return components(*on_device).stats; });
    }
    {
      Lazy<acc::AccGraph> simple([this] {
        return std::make_unique<acc::AccGraph>(device_, *graph_, acc::AccNeeds{.simple = true});
      });
      measure_program("kcore", [&] { return core_numbers(*simple).stats; });
      measure_program("kcore --k 16", [&] { return core_numbers(*simple, 16).stats; });
    }
    measure_beliefs();
    if (options_.graph.empty()) measure_grid();
    return std::move(figures_);
  }

 private:
  /// A value that is made on first use: at large scales the host takes minutes to make graphs.
  template <class T>
  class Lazy {
   public:
    explicit Lazy(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}
    const T& operator*() {
      if (!value_) value_ = make_();
      return *value_;
    }
    const T* operator->() { return &**this; }

   private:
    std::function<std::unique_ptr<T>()> make_;
    std::unique_ptr<T> value_;
  };

  std::unique_ptr<Graph> make_graph() {
    auto graph = std::make_unique<Graph>(load_graph(device_, options_));
    add_graph_size(*graph);
    return graph;
  }

  /// Edges that a search traverses, as Graph500 counts them: those with an end that is reached, each once.
  double traversed_edges(const acc::BfsResult& result) {
    std::uint64_t stored = 0;
    for (std::uint64_t v = 0; v < graph_->vertices(); ++v)
      stored += result.depths[v] >= 0 ? graph_->out.offsets[v + 1] - graph_->out.offsets[v] : 0;
    return static_cast<double>(stored) / (graph_->directed ? 1 : 2);
  }

  /// Measures the mean time over all sources, and the harmonic mean of their rates.
  void measure_bfs(Lazy<acc::AccGraph>& on_device, const std::string& name, const acc::AccOptions& options) {
    if (!begin(name)) return;
    std::vector<double> rates;
    acc::AccStats last;
    const auto times = repeated(options_.repetitions, [&] {
      double seconds_per_edge = 0, time = 0;
      for (const Vertex source : sources_of(*graph_, kSources)) {
        const acc::BfsResult result = bfs(*on_device, source, options);
        time += result.stats.compute_seconds;
        seconds_per_edge += result.stats.compute_seconds / std::max(1.0, traversed_edges(result));
        last = result.stats;
      }
      rates.push_back(kSources / seconds_per_edge * 1e-9);
      return time / kSources * 1e3;
    });
    rates.erase(rates.begin());  // of the warm-up run
    add_figure(name, times, "ms", rounds_of(last));
    add_figure(name + ", harmonic mean", rates, "G edges/s", "traversed, Graph500's count");
  }

  static std::string rounds_of(const acc::AccStats& stats) {
    std::string words = text("%.0f rounds", static_cast<double>(stats.rounds)) +
                        text(", %.0f launches", static_cast<double>(stats.kernel_launches));
    if (stats.push_registers > 0) words += text(", %.0f registers to push", stats.push_registers);
    if (stats.pull_registers > 0) words += text(", %.0f to pull", stats.pull_registers);
    return words;
  }

  void ablations(Lazy<acc::AccGraph>& on_device) {
    acc::AccOptions options;
    options.direction = acc::AccDirection::push;
    measure_bfs(on_device, "bfs, push alone", options);
    for (const auto& [name, filter] :
         {std::pair{"ballot", acc::AccFilter::ballot}, std::pair{"online", acc::AccFilter::online},
          std::pair{"batch", acc::AccFilter::batch}}) {
      options.filter = filter;
      measure_bfs(on_device, std::string("bfs, push alone, --filter ") + name, options);
    }
    options = {};
    for (const auto& [name, fusion] :
         {std::pair{"none", acc::AccFusion::none}, std::pair{"push-pull", acc::AccFusion::push_pull},
          std::pair{"all", acc::AccFusion::all}}) {
      options.fusion = fusion;
      measure_bfs(on_device, std::string("bfs, --fusion ") + name, options);
    }
  }

  void measure_sssp(Lazy<acc::AccGraph>& on_device, const std::string& name) {
    measure_program(name, [&] {
      acc::AccStats all;
      double seconds = 0;
      for (const Vertex source : sources_of(*graph_, kSources)) {
        all = sssp(*on_device, source).stats;
        seconds += all.compute_seconds;
      }
      all.compute_seconds = seconds / kSources;
      return all;
    });
  }

  template <class Run>
  void measure_program(const std::string& name, Run&& run) {
    if (!begin(name)) return;
    acc::AccStats last;
    const auto times = repeated(options_.repetitions, [&] {
      last = run();
      return last.compute_seconds * 1e3;
    });
    add_figure(name, times, "ms", rounds_of(last));
    add_rates(name + ", rate", times, static_cast<double>(graph_->edges()), "stored edges / time");
  }

  /// Rates for `edges` in each of `times` (ms).
  void add_rates(const std::string& name, std::vector<double> times, double edges, const std::string& note) {
    for (double& time : times) time = edges / time * 1e-6;
    add_figure(name, times, "G edges/s", note);
  }

  /// Measures rounds of messages between two states, if they fit in memory.
  void measure_beliefs() {
    if (!options_.wants("bp") || graph_->directed) return;
    const acc::AccPlan plan = acc::plan_beliefs(device_, *graph_, 2);
    if (device_.is_cuda() ? plan.message_bytes > 0 : plan.host_bytes > host_budget().available())
      return;  // the messages must fit whole: GPU in device memory, host in host memory
    begin("bp");
    const acc::BeliefModel model = two_states(*graph_);
    const acc::AccGraph on_device = acc::belief_graph(device_, *graph_, 2);
    acc::BeliefOptions belief_options;
    belief_options.tolerance = 0;
    belief_options.max_iterations = device_.is_cuda() ? kBeliefRounds : kBeliefRoundsOnHost;
    acc::AccStats last;
    const auto times = repeated(options_.repetitions, [&] {
      last = propagate_beliefs(on_device, model, belief_options).stats;
      return last.compute_seconds / static_cast<double>(last.rounds) * 1e3;
    });
    add_figure("bp, 2 states, a round", times, "ms", rounds_of(last));
    add_rates("bp, 2 states, rate", times, static_cast<double>(last.edges) / static_cast<double>(last.rounds),
              text("%.0f bytes an edge at least", kBeliefBytes));
    const double moved = figures_.back().value * kBeliefBytes;
    const double copied = measure_limits(device_, options_.repetitions).copy;
    set_share(figures_.back(), moved / copied, "copy, read + write");
    add_value("limit: copy, read + write", copied, "GB/s");
  }

  /// Measures on a square grid with as many vertices as the Kronecker graph was generated with.
  void measure_grid() {
    if (!begin("bfs on a grid")) return;
    io::GenerateOptions generate;
    generate.kind = io::GraphKind::grid, generate.scale = options_.scale, generate.seed = options_.seed;
    io::ConvertOptions rules;
    rules.undirected = true, rules.weights = io::WeightRule::uniform, rules.compact = false;
    rules.scratch = options_.folder;
    const Graph graph = bench::generate_graph(generate, rules);
    const acc::AccGraph on_device(device_, graph, {.in_edges = true, .weights = true});
    acc::AccStats last;
    const auto times = repeated(options_.repetitions, [&] {
      last = bfs(on_device, 0).stats;
      return last.compute_seconds * 1e3;
    });
    const double round_microseconds = median(times) * 1e3 / static_cast<double>(last.rounds);
    add_figure("bfs on a grid", times, "ms",
               rounds_of(last) + text(", %.2f us a round", round_microseconds) +
                   (device_.is_cuda() ? text("; a barrier of the grid takes %.2f",
                                             measure_limits(device_, options_.repetitions).barrier)
                                      : ""));
    add_figure("sssp on a grid",
               repeated(options_.repetitions, [&] { return sssp(on_device, 0).stats.compute_seconds * 1e3; }),
               "ms");
  }

  Lazy<Graph> graph_{[this] { return make_graph(); }};
};

}  // namespace

std::vector<Figure> run_acc(Device& device, const Options& options) {
  return AccSuite(device, options).run();
}

}  // namespace sluice::bench
