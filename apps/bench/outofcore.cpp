// sluice-bench outofcore: walks, samples and programs on a graph of which the device holds a quarter,
// compared with the rate of the link to the host.
#include <algorithm>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/limits.hpp"
#include "apps/bench/workload.hpp"
#include "engine/acc/solve.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

/// Walks and their paths take device memory in addition to these slots.
constexpr PagingOptions kQuarterAutomatic{.partitions = kQuarterInSlots.partitions,
                                          .slots = kQuarterInSlots.slots};

class OutOfCoreSuite : SuiteFigures {
 public:
  OutOfCoreSuite(Device& device, const Options& options)
      : SuiteFigures(device, options),
        limits_(measure_limits(device, options.repetitions)),
        graph_(load_graph(device, options)) {}

  std::vector<Figure> run() {
    add_graph_size(graph_);
    if (limits_.to_device > 0) add_value("limit: host to device", limits_.to_device, "GB/s");
    walks::Options uniform;
    walks::Options weighted;
    weighted.kind = walks::Kind::biased;
    walks::Options coded = uniform;
    uniform.layout = Layout::csr, coded.layout = Layout::coded;
    const PagingOptions same_memory = coded_quarter(graph_, device_.threads(), false),
                        by_weight = coded_quarter(graph_, device_.threads(), true);
    walk("uniform walk, two walkers a vertex, csr", uniform, 2, kQuarterInSlots);
    walk("uniform walk, two walkers a vertex, coded", coded, 2, same_memory);
    walk("uniform walk, copied", uniform, 1, kQuarterInSlots);
    walk("uniform walk, coded", coded, 1, same_memory);
    PagingOptions fifo = kQuarterInSlots;
    fifo.schedule = SchedulePolicy::fifo;
    walk("uniform walk, copied, fifo", uniform, 1, fifo);
    // The automatic choices, as for a user who gives no option.
    walks::Options automatic_layout;
    PagingOptions automatic = same_memory;
    automatic.transport = Transport::automatic;
    walk("uniform walk, auto", automatic_layout, 1, automatic);
    walk("uniform walk, two walkers a vertex, auto", automatic_layout, 2, automatic);
    walk("uniform walk, ten walkers a vertex, auto", automatic_layout, 10, automatic);
    weighted.layout = Layout::csr;
    walk("biased by weight, alias, copied", weighted, 1, kQuarterInSlots);
    weighted.layout = Layout::coded;
    walk("biased by weight, alias, coded", weighted, 1, by_weight);
    weighted.kind = walks::Kind::node2vec, weighted.p = 2, weighted.q = 0.5;
    walk("node2vec 2, 0.5, weighted, coded", weighted, 1, by_weight);
    walk("node2vec 2, 0.5, weighted, ten walkers a vertex, coded", weighted, 10, by_weight);
    for (const Instance instances : {Instance{4000}, Instance{64000}}) {
      const std::string count = text("%.0f uniform walks, ", static_cast<double>(instances));
      walk(count + "copied", uniform, 1, kQuarterInSlots, instances);
      walk(count + "coded", coded, 1, same_memory, instances);
      walk(count + "auto", automatic_layout, 1, automatic, instances);
    }
    weighted.layout = Layout::automatic;
    walk("64000 node2vec walks, auto", weighted, 1, kQuarterAutomatic, 64'000);
    sample("csr", Layout::csr, kQuarterAutomatic);
    sample("coded", Layout::coded, automatic);
    programs();
    return std::move(figures_);
  }

 private:
  void sample(const char* layout, Layout edge_layout, const PagingOptions& paging) {
    const auto seeds = std::min<std::uint64_t>(graph_.vertices(), device_.is_cuda() ? 1u << 20 : 1u << 12);
    const std::string name =
        text("neighbor 15,10, distinct, %.0f seeds, ", static_cast<double>(seeds)) + layout;
    samples::Options neighbor;
    neighbor.fanout = {15, 10}, neighbor.seed = options_.seed, neighbor.layout = edge_layout;
    measure<ResidentGraph>(
        name, "G edges/s", [&] { return std::make_unique<ResidentGraph>(device_, graph_, paging); },
        [&](ResidentGraph& graph) {
          const RunStats stats = sampling::run_samples(graph, random_starts(seeds), neighbor, nullptr);
          return std::pair(static_cast<double>(stats.sampled_edges) / stats.compute_seconds * 1e-9, stats);
        });
  }

  void programs() {
    const Vertex source = sources_of(graph_, 1)[0];
    solve("bfs, auto", {.in_edges = true}, [&](const auto& graph) { return acc::bfs(graph, source).stats; });
    solve("sssp, auto", {.weights = true}, [&](const auto& graph) { return acc::sssp(graph, source).stats; });
    solve("wcc, auto", {}, [](const auto& graph) { return acc::components(graph).stats; });
    solve("kcore, auto", {.simple = true}, [](const auto& graph) { return acc::core_numbers(graph).stats; });
  }

  template <class Run>
  void solve(const char* name, const acc::AccNeeds& needs, const Run& run) {
    measure<acc::AccGraph>(
        name, "ms",
        [&] {
          return std::make_unique<acc::AccGraph>(device_, graph_, needs,
                                                 acc::AccPlace{.paging = kQuarterAutomatic});
        },
        [&](const acc::AccGraph& graph) {
          const acc::AccStats stats = run(graph);
          return std::pair(1e3 * stats.compute_seconds, stats);
        });
  }

  /// Measures what `run` returns, a value and statistics, on the graph of `make`, after a warm-up that builds
  /// tables. Returns the GB/s that were copied; 0 if the figure is not wanted.
  template <class GraphType, class Make, class Run>
  double measure(const std::string& name, const char* unit, const Make& make, const Run& run) {
    if (!begin(name)) return 0;
    const std::unique_ptr<GraphType> graph = make();
    std::string note;
    double copied = 0;
    const auto values = repeated(options_.repetitions, [&] {
      const auto [value, stats] = run(*graph);
      const auto rate = [seconds = stats.compute_seconds](std::uint64_t bytes) {
        return static_cast<double>(bytes) / seconds * 1e-9;
      };
      copied = rate(stats.host_to_device_bytes);
      note = text("%.0f transfers, ", static_cast<double>(stats.partition_transfers)) +
             text("%.0f rounds, ", static_cast<double>(stats.rounds)) + text("%.1f GB/s copied, ", copied) +
             text("%.1f GB/s read in place", rate(stats.mapped_bytes));
      return value;
    });
    add_figure(name, values, unit, note);
    return copied;
  }

  void walk(const std::string& name, walks::Options walk_options, std::uint64_t walks_per_vertex,
            const PagingOptions& paging, Instance instances = 0) {
    Starts starts;
    starts.rounds = walks_per_vertex;
    if (instances != 0) starts = random_starts(instances);
    walk_options.seed = options_.seed;
    const double copied = measure<ResidentGraph>(
        name, "G steps/s", [&] { return std::make_unique<ResidentGraph>(device_, graph_, paging); },
        [&](ResidentGraph& graph) {
          const RunStats stats = sampling::run_walks(graph, starts, walk_options, nullptr);
          return std::pair(static_cast<double>(stats.steps) / stats.compute_seconds * 1e-9, stats);
        });
    if (copied > 0 && limits_.to_device > 0)
      set_share(figures_.back(), copied / limits_.to_device, "host to device");
  }

  Limits limits_;
  Graph graph_;
};

}  // namespace

std::vector<Figure> run_outofcore(Device& device, const Options& options) {
  return OutOfCoreSuite(device, options).run();
}

}  // namespace sluice::bench
