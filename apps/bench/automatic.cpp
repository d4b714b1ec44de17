// sluice-bench auto: what `--transport auto` and `--layout auto` choose for graphs that exceed the device,
// compared with every choice that a user could force, with the same memory.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/workload.hpp"
#include "apps/cli/errors.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

struct Choice {
  const char* name;
  Transport transport = Transport::automatic;
  Layout layout = Layout::automatic;
};

constexpr Choice kAutomatic{"auto"};
constexpr Choice kLists[] = {{"copied", Transport::copied, Layout::csr},
                             {"mapped", Transport::mapped, Layout::csr}};
constexpr Choice kCodedLists[] = {{"copied", Transport::copied, Layout::csr},
                                  {"coded", Transport::copied, Layout::coded},
                                  {"mapped", Transport::mapped, Layout::csr}};

/// A device memory budget for a share of the edges, and for all that is not edges.
struct Memory {
  double share = 0.25;
  std::uint64_t edge_bytes = sizeof(Vertex), vertex_bytes = 64, instance_bytes = 0;

  std::uint64_t bytes_for(const Graph& graph, std::uint64_t instances = 0) const {
    constexpr std::uint64_t kFixed = 1u << 20;
    return kFixed + graph.vertices() * vertex_bytes + instances * instance_bytes +
           static_cast<std::uint64_t>(share * static_cast<double>(graph.edges() * edge_bytes));
  }
};

constexpr double kQuarter = 1.0 / 4, kSixteenth = 1.0 / 16;
constexpr std::uint64_t kFewInstances = 4000, kManyInstances = 1u << 16, kMaxPerVertex = 8;
constexpr unsigned kIterations = 10;
constexpr const char* kTimes = "times the best";
/// Choices are measured in turns, each time in newly allocated memory: its location changes the time of a
/// link by a tenth.
constexpr unsigned kTurns = 3;

class AutomaticSuite : SuiteFigures {
 public:
  AutomaticSuite(Device& device, const Options& options) : SuiteFigures(device, options) {}

  std::vector<Figure> run() {
    graph_ = load_graph(device_, options_);
    add_graph_size(graph_);
    walks_on("kronecker");
    samples_on("kronecker");
    solvers_on("kronecker", kQuarter);
    solvers_on("kronecker", kSixteenth);
    if (options_.graph.empty()) {
      graph_ = load_graph(device_, options_, io::GraphKind::grid);
      walk("grid, uniform walk, one a vertex", {}, 0, kQuarter);
      breadth_first("grid", kQuarter);
      components_of("grid", kQuarter);
    }
    add_totals();
    return std::move(figures_);
  }

 private:
  using Seconds = std::vector<double>;
  /// Returns the seconds of each repetition in a turn, after a warm-up run.
  using Runner = std::function<Seconds(Device&, const PagingOptions&, Layout)>;

  void add_totals() {
    double worst = 0, slower_jobs = 0;
    for (const Figure& figure : figures_) {
      if (figure.unit != kTimes) continue;
      worst = std::max(worst, figure.value), slower_jobs += figure.value > 1.1;
    }
    add_value("the job that is most behind", worst, "times the best choice");
    add_value("jobs more than 10% behind", slower_jobs, "of all");
  }

  /// Fewer on small graphs, as in tests.
  std::uint64_t many() const { return std::min(kManyInstances, kMaxPerVertex * graph_.vertices()); }
  std::string many_text() const { return many() == kManyInstances ? "65,536" : std::to_string(many()); }

  static std::string share_name(double share) { return share == kQuarter ? "a quarter" : "a sixteenth"; }

  void walks_on(const std::string& graph) {
    walk(graph + ", uniform walk, one a vertex", {}, 0, kQuarter);
    walk(graph + ", uniform walk, one a vertex", {}, 0, kSixteenth);
    walk(graph + ", uniform walk, 4,000", {}, kFewInstances, kQuarter);
    walks::Options biased, second_order;
    biased.kind = walks::Kind::biased;
    walk(graph + ", biased walk, " + many_text(), biased, many(), kQuarter);
    walk(graph + ", biased walk, 4,000", biased, kFewInstances, kQuarter);
    second_order.kind = walks::Kind::node2vec, second_order.p = 2, second_order.q = 0.5;
    walk(graph + ", node2vec, 4,000", second_order, kFewInstances, kQuarter);
  }

  void samples_on(const std::string& graph) {
    samples::Options o;
    o.fanout = {15, 10};
    sample(graph + ", neighbor 15,10, " + many_text() + " seeds", o, many(), kQuarter);
    sample(graph + ", neighbor 15,10, 4,000 seeds", o, kFewInstances, kQuarter);
  }

  void solvers_on(const std::string& graph, double share) {
    breadth_first(graph, share);
    const acc::AccNeeds weighted{.weights = true}, simple{.simple = true};
    solve(graph + ", sssp", weighted, {.share = share, .edge_bytes = 8}, [&](const acc::AccGraph& acc_graph) {
      return acc::sssp(acc_graph, sources_of(graph_, 1)[0]).stats;
    });
    components_of(graph, share);
    solve(graph + ", kcore", simple, {.share = share},
          [](const acc::AccGraph& acc_graph) { return acc::core_numbers(acc_graph).stats; });
    if (share == kQuarter) page_rank(graph, share);
  }

  void breadth_first(const std::string& graph, double share) {
    solve(graph + ", bfs", {.in_edges = true}, {.share = share}, [&](const acc::AccGraph& acc_graph) {
      return acc::bfs(acc_graph, sources_of(graph_, 1)[0]).stats;
    });
  }

  void components_of(const std::string& graph, double share) {
    solve(graph + ", wcc", {}, {.share = share},
          [](const acc::AccGraph& acc_graph) { return acc::components(acc_graph).stats; });
  }

  static bool reads_weights(const walks::Options& o) {
    return o.kind == walks::Kind::biased || o.kind == walks::Kind::node2vec;
  }

  /// `walkers` 0: one walk per vertex.
  void walk(const std::string& name, walks::Options o, std::uint64_t walkers, double share) {
    Starts starts;
    if (walkers != 0) starts = random_starts(walkers);
    o.seed = options_.seed;
    const Memory memory{.share = share,
                        .edge_bytes = reads_weights(o) ? 12u : 4u,
                        .instance_bytes = sizeof(Vertex) * (o.length + 5)};
    compare(name, share, kCodedLists, memory.bytes_for(graph_, walkers != 0 ? walkers : graph_.vertices()),
            [&](Device& device, const PagingOptions& paging, Layout layout) {
              ResidentGraph graph(device, graph_, paging);
              o.layout = layout;
              return repeated([&] { return sampling::run_walks(graph, starts, o, nullptr).compute_seconds; });
            });
  }

  void sample(const std::string& name, samples::Options o, std::uint64_t seeds, double share) {
    o.seed = options_.seed;
    const Memory memory{.share = share, .instance_bytes = 4096};
    compare(name, share, kCodedLists, memory.bytes_for(graph_, seeds),
            [&](Device& device, const PagingOptions& paging, Layout layout) {
              ResidentGraph graph(device, graph_, paging);
              o.layout = layout;
              return repeated([&] {
                return sampling::run_samples(graph, random_starts(seeds), o, nullptr).compute_seconds;
              });
            });
  }

  template <class Solve>
  void solve(const std::string& name, const acc::AccNeeds& needs, const Memory& memory, const Solve& solve) {
    compare(name, memory.share, kLists, memory.bytes_for(graph_),
            [&](Device& device, const PagingOptions& paging, Layout) {
              const acc::AccGraph graph(device, graph_, needs, {.paging = paging});
              return repeated([&] { return solve(graph).compute_seconds; });
            });
  }

  void page_rank(const std::string& graph, double share) {
    pagerank::Options o;
    o.tolerance = 0, o.max_iterations = kIterations;
    compare(graph + ", pagerank, 10 iterations", share, kLists, Memory{.share = share}.bytes_for(graph_),
            [&](Device& device, const PagingOptions& paging, Layout) {
              return repeated([&] {
                return pagerank::run_pagerank(device, graph_, o, {}, {.paging = paging}).compute_seconds;
              });
            });
  }

  template <class Run>
  Seconds repeated(const Run& run) const {
    return bench::repeated((options_.repetitions + kTurns - 1) / kTurns, [&] {
      apps::throw_if_stopped();
      return run();
    });
  }

  void time(const Choice& choice, std::uint64_t memory, const Runner& run, Seconds& all) const {
    Device device({.choice = device_.is_cuda() ? DeviceChoice::cuda : DeviceChoice::host,
                   .threads = device_.threads(),
                   .device_memory = memory});
    PagingOptions paging;
    paging.transport = choice.transport, paging.force_partitions = true;
    const Seconds more = run(device, paging, choice.layout);
    all.insert(all.end(), more.begin(), more.end());
  }

  /// Measures the time of the automatic choice over that of the best forced choice. It is below 1 if the
  /// automatic one combines choices that no user can force. A choice that is not possible has no column.
  void compare(std::string name, double share, std::span<const Choice> choices, std::uint64_t memory,
               const Runner& run) {
    name += ", " + share_name(share);
    if (!begin(name)) return;
    Seconds automatic;
    std::vector<Seconds> forced(choices.size());
    Figure figure{name, 0, kTimes, 0, 0, {}};
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      time(kAutomatic, memory, run, automatic);
      for (std::size_t c = 0; c < choices.size(); ++c) {
        if (turn > 0 && forced[c].empty()) continue;
        try {
          time(choices[c], memory, run, forced[c]);
        } catch (const UsageError&) {
          figure.note += (figure.note.empty() ? "" : ", ") + std::string(choices[c].name) + " not possible";
        }
      }
    }
    figure.columns.emplace_back("auto ms", 1e3 * median(automatic));
    double best = 0;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      if (forced[c].empty()) continue;
      const double seconds = median(forced[c]);
      if (best == 0 || seconds < best) best = seconds;
      figure.columns.emplace_back(std::string(choices[c].name) + " ms", 1e3 * seconds);
    }
    for (double& seconds : automatic) seconds /= best;
    const auto [low, high] = std::ranges::minmax(automatic);
    figure.value = median(automatic), figure.low = low, figure.high = high;
    figures_.push_back(std::move(figure));
  }

  Graph graph_;
};

}  // namespace

std::vector<Figure> run_automatic(Device& device, const Options& options) {
  return AutomaticSuite(device, options).run();
}

}  // namespace sluice::bench
