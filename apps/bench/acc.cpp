// sluice-bench acc: searches, shortest paths, cores, components and beliefs on a Graph500-Kronecker graph,
// and a search over a grid, whose rounds are many and small; on a GPU also the filters and fusions that they
// can do without.
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
/// What a round of two states moves at least for an edge: where it leads, its weight and its reverse; the
/// message that came back along it, its own written, and read again by its receiver.
constexpr double kBeliefBytes = 4 + 4 + 8 + 3 * 2 * 8;

class AccSuite {
 public:
  AccSuite(Device& device, const Options& options) : device_(device), options_(options) {}

  std::vector<Figure> run() {
    {
      Made<acc::AccGraph> on_device([this] {
        return std::make_unique<acc::AccGraph>(device_, *graph_,
                                               acc::AccNeeds{.in_edges = true, .weights = true});
      });
      const std::string sources = text("%.0f sources", kSources);
      searches(on_device, "bfs, " + sources, {});
      if (device_.is_cuda()) ablations(on_device);
      paths(on_device, "sssp, " + sources);
      whole("wcc", [&] { return components(*on_device).stats; });
    }
    {
      Made<acc::AccGraph> simple([this] {
        return std::make_unique<acc::AccGraph>(device_, *graph_, acc::AccNeeds{.simple = true});
      });
      whole("kcore", [&] { return core_numbers(*simple).stats; });
      whole("kcore --k 16", [&] { return core_numbers(*simple, 16).stats; });
    }
    beliefs();
    if (options_.graph.empty()) grid();
    return std::move(figures_);
  }

 private:
  /// Made when the first figure wants it: at large scales the host takes minutes to make graphs.
  template <class T>
  class Made {
   public:
    explicit Made(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}
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
    plain("vertices", static_cast<double>(graph->vertices()));
    plain("stored edges", static_cast<double>(graph->edges()));
    return graph;
  }

  /// Is this work to be measured?
  bool begin(const std::string& name) const {
    if (!options_.wants(name)) return false;
    if (options_.progress) options_.progress(name);
    return true;
  }

  void plain(const char* name, double value) { figures_.push_back({name, value, "", value, value, {}}); }

  void put(const std::string& name, std::vector<double> values, const char* unit, std::string note = {}) {
    std::sort(values.begin(), values.end());
    figures_.push_back(
        {name, values[values.size() / 2], unit, values.front(), values.back(), std::move(note)});
  }

  /// Edges that a search traverses, as Graph500 counts them: those with an end that it reaches, each once.
  double traversed_edges(const acc::BfsResult& result) {
    std::uint64_t stored = 0;
    for (std::uint64_t v = 0; v < graph_->vertices(); ++v)
      stored += result.depths[v] >= 0 ? graph_->out.offsets[v + 1] - graph_->out.offsets[v] : 0;
    return static_cast<double>(stored) / (graph_->directed ? 1 : 2);
  }

  /// Times of all sources, and the harmonic mean of their rates.
  void searches(Made<acc::AccGraph>& on_device, const std::string& name, const acc::AccOptions& options) {
    if (!begin(name)) return;
    std::vector<double> times, rates;
    acc::AccStats last;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      double slowness = 0, time = 0;
      for (const Vertex source : sources_of(*graph_, kSources)) {
        const acc::BfsResult result = bfs(*on_device, source, options);
        time += result.stats.compute_seconds;
        slowness += result.stats.compute_seconds / std::max(1.0, traversed_edges(result));
        last = result.stats;
      }
      if (r == 0) continue;  // it warms up
      times.push_back(time / kSources * 1e3);
      rates.push_back(kSources / slowness * 1e-9);
    }
    put(name, std::move(times), "ms", rounds_of(last));
    put(name + ", harmonic mean", std::move(rates), "G edges/s", "traversed, Graph500's count");
  }

  static std::string rounds_of(const acc::AccStats& stats) {
    std::string words = text("%.0f rounds", static_cast<double>(stats.rounds)) +
                        text(", %.0f launches", static_cast<double>(stats.kernel_launches));
    if (stats.push_registers > 0) words += text(", %.0f registers to push", stats.push_registers);
    if (stats.pull_registers > 0) words += text(", %.0f to pull", stats.pull_registers);
    return words;
  }

  void ablations(Made<acc::AccGraph>& on_device) {
    acc::AccOptions options;
    options.direction = acc::AccDirection::push;
    searches(on_device, "bfs, push alone", options);
    for (const auto& [name, filter] :
         {std::pair{"ballot", acc::AccFilter::ballot}, std::pair{"online", acc::AccFilter::online},
          std::pair{"batch", acc::AccFilter::batch}}) {
      options.filter = filter;
      searches(on_device, std::string("bfs, push alone, --filter ") + name, options);
    }
    options = {};
    for (const auto& [name, fusion] :
         {std::pair{"none", acc::AccFusion::none}, std::pair{"push-pull", acc::AccFusion::push_pull},
          std::pair{"all", acc::AccFusion::all}}) {
      options.fusion = fusion;
      searches(on_device, std::string("bfs, --fusion ") + name, options);
    }
  }

  void paths(Made<acc::AccGraph>& on_device, const std::string& name) {
    if (!begin(name)) return;
    std::vector<double> times, rates;
    acc::AccStats last;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      double time = 0;
      for (const Vertex source : sources_of(*graph_, kSources)) {
        last = sssp(*on_device, source).stats;
        time += last.compute_seconds;
      }
      if (r == 0) continue;
      times.push_back(time / kSources * 1e3);
      rates.push_back(static_cast<double>(graph_->edges()) * kSources / time * 1e-9);
    }
    put(name, std::move(times), "ms", rounds_of(last));
    put(name + ", rate", std::move(rates), "G edges/s", "stored edges / time");
  }

  template <class Run>
  void whole(const std::string& name, Run&& run) {
    if (!begin(name)) return;
    std::vector<double> times, rates;
    acc::AccStats last;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      last = run();
      if (r == 0) continue;
      times.push_back(last.compute_seconds * 1e3);
      rates.push_back(static_cast<double>(graph_->edges()) / last.compute_seconds * 1e-9);
    }
    put(name, std::move(times), "ms", rounds_of(last));
    put(name + ", rate", std::move(rates), "G edges/s", "stored edges / time");
  }

  /// Rounds of messages about two states, where memory holds them.
  void beliefs() {
    if (!options_.wants("bp") || graph_->directed) return;
    const acc::AccPlan plan = acc::plan_beliefs(device_, *graph_, 2);
    if (device_.is_cuda() ? plan.message_bytes > 0 : plan.host_bytes > host_budget().available())
      return;  // a GPU's, or the host's, are whole
    begin("bp");
    const acc::BeliefModel model = two_states(*graph_);
    const acc::AccGraph on_device = acc::belief_graph(device_, *graph_, 2);
    acc::BeliefOptions messages;
    messages.tolerance = 0;
    messages.max_iterations = device_.is_cuda() ? kBeliefRounds : kBeliefRoundsOnHost;
    std::vector<double> times, rates;
    acc::AccStats last;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      last = propagate_beliefs(on_device, model, messages).stats;
      if (r == 0) continue;
      times.push_back(last.compute_seconds / static_cast<double>(last.rounds) * 1e3);
      rates.push_back(static_cast<double>(last.edges) / last.compute_seconds * 1e-9);
    }
    put("bp, 2 states, a round", std::move(times), "ms", rounds_of(last));
    std::sort(rates.begin(), rates.end());
    const double moved = rates[rates.size() / 2] * kBeliefBytes;
    const double copied = measure_limits(device_, options_.repetitions).copy;
    put("bp, 2 states, rate", std::move(rates), "G edges/s",
        text("%.0f bytes an edge at least", kBeliefBytes));
    set_share(figures_.back(), moved / copied, "copy, read + write");
    figures_.push_back({"limit: copy, read + write", copied, "GB/s", copied, copied, {}});
  }

  /// As many vertices as the Kronecker graph was made with, in a square.
  void grid() {
    if (!begin("bfs on a grid")) return;
    io::GenerateOptions generate;
    generate.kind = io::GraphKind::grid, generate.scale = options_.scale, generate.seed = options_.seed;
    io::ConvertOptions rules;
    rules.undirected = true, rules.weights = io::WeightRule::uniform, rules.compact = false;
    const Graph graph = bench::generate_graph(generate, rules);
    const acc::AccGraph on_device(device_, graph, {.in_edges = true, .weights = true});
    std::vector<double> times, path_times;
    acc::BfsResult result;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      result = bfs(on_device, 0);
      const double path_time = sssp(on_device, 0).stats.compute_seconds;
      if (r == 0) continue;
      times.push_back(result.stats.compute_seconds * 1e3);
      path_times.push_back(path_time * 1e3);
    }
    const double a_round = times[times.size() / 2] * 1e3 / static_cast<double>(result.stats.rounds);
    put("bfs on a grid", std::move(times), "ms",
        rounds_of(result.stats) + text(", %.2f us a round", a_round) +
            (device_.is_cuda() ? text("; a barrier of the grid takes %.2f",
                                      measure_limits(device_, options_.repetitions).barrier)
                               : ""));
    put("sssp on a grid", std::move(path_times), "ms");
  }

  Device& device_;
  const Options& options_;
  Made<Graph> graph_{[this] { return make_graph(); }};
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> run_acc(Device& device, const Options& options) {
  return AccSuite(device, options).run();
}

}  // namespace sluice::bench
