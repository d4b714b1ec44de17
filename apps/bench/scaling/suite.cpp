// sluice-bench scaling: walks and samples (walks.hpp), iterations of PageRank, searches, paths, cores,
// components, beliefs, queries of personalized PageRank and batches of changes, on all ranks of the job
// compared with one of them. Before them, rates of links (links.hpp); also times of loads (loads.hpp).
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/scaling/links.hpp"
#include "apps/bench/scaling/loads.hpp"
#include "apps/bench/scaling/walks.hpp"
#include "apps/bench/workload.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/shared_graph.hpp"
#include "engine/acc/acc_graph.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/solve.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::bench {

namespace {

using apps::world;

constexpr Instance kQueries = 65536, kQueriesOnHost = 64;
constexpr double kResidual = 1e-4;  ///< with the default, a query reaches most of a graph of this size
constexpr std::uint32_t kBeliefRounds = 10;
constexpr double kBatch = 1e-4;  ///< the fraction of edges that change
/// Vertices of a path; a search has as many rounds. With the host backend, each round ends on the hosts.
constexpr std::uint64_t kPath = 1'000'000, kPathOnHost = 100;

Graph path_of(std::uint64_t vertices) {
  Graph graph;
  graph.directed = false;
  graph.out.offsets = HostArray<EdgeIndex>(vertices + 1, "a path");
  graph.out.targets = HostArray<Vertex>(2 * (vertices - 1), "a path");
  EdgeIndex edge = graph.out.offsets[0] = 0;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    if (v > 0) graph.out.targets[edge++] = static_cast<Vertex>(v - 1);
    if (v + 1 < vertices) graph.out.targets[edge++] = static_cast<Vertex>(v + 1);
    graph.out.offsets[v + 1] = edge;
  }
  return graph;
}

/// The cost of a run on this rank.
struct Cost {
  double seconds = 0;
  double bytes = 0;       ///< sent, without loading its part
  double rounds = 0;      ///< with an exchange of ranks
  double edges = 0;       ///< read by all ranks; 0: not counted
  double replicated = 0;  ///< part of one rank's seconds that each of several repeats
};

class ScalingSuite : SuiteFigures {
 public:
  ScalingSuite(Device& device, const Options& options)
      : SuiteFigures(device, options),
        graph_(options.graph.empty()
                   ? load_graph(device, options)
                   : apps::read_graph_once_per_node(options.graph, io::read_graph_info(options.graph))) {}

  std::vector<Figure> run() {
    add_value("ranks", world().size());
    add_graph_size(graph_);
    if (ranks() > 1 && begin("limit")) measure_links(device_, options_, figures_);
    if (options_.wants("walks")) scale_walks(device_, options_, graph_, figures_);
    iterations();
    programs();
    path();
    queries();
    batches();
    return std::move(figures_);
  }

 private:
  static std::uint64_t ranks() { return static_cast<std::uint64_t>(world().size()); }

  /// Measures PageRank with transfers during the sweep and, on GPUs that NCCL connects, only after it.
  void iterations() {
    const double one = iteration("pagerank, one rank", graph_, WorkingRanks::first, 0, 0);
    if (ranks() == 1) return;
    iteration("pagerank", graph_, WorkingRanks::all, 0, one);
    if (device_.is_cuda()) iteration("pagerank, nothing overlaps", graph_, WorkingRanks::all, 1, one);
    GraphFile file(options_, graph_);
    if (const char* const name = "pagerank, shard"; options_.wants(name))
      iteration(name, open_shared(file.path(), false), WorkingRanks::all, 0, one);
    measure_loads(device_, options_, file, figures_);
  }

  /// Measures stored edges a second; the first iteration is a warm-up. Returns the rate.
  double iteration(const std::string& name, const Graph& graph, WorkingRanks working, unsigned pieces,
                   double one) {
    if (!begin(name)) return 0;
    pagerank::Options options;
    options.tolerance = 0;
    options.max_iterations = options_.repetitions + 1;
    std::vector<double> seconds(options.max_iterations, 0);
    Cost cost{.rounds = 1};
    world().barrier("iterations of PageRank");
    if (working == WorkingRanks::all || world().is_root()) {
      pagerank::RankPlace place;
      if (working == WorkingRanks::all) place.ranks = &world();
      place.pieces = pieces;
      const pagerank::Result result = pagerank::run_pagerank(device_, graph, options, {}, place);
      for (std::size_t i = 0; i < result.history.size(); ++i) seconds[i] = result.history[i].seconds;
      cost.bytes = static_cast<double>(result.traffic.exchanged_bytes) / options.max_iterations;
    }
    world().all_reduce(seconds, Reduce::max, "iterations of PageRank");
    std::vector<double> rates;
    for (std::size_t i = 1; i < seconds.size(); ++i)
      if (seconds[i] > 0) rates.push_back(static_cast<double>(graph.edges()) / seconds[i] * 1e-9);
    if (rates.empty()) return 0;
    Figure& figure = add_figure(name, rates, "G edges/s");
    figure.columns = columns_of(one > 0 ? figure.value / one : 0, cost);
    return figure.value;
  }

  void programs() {
    const Vertex hub = largest_vertex();
    program("bfs", graph_, {.in_edges = true},
            [&](const acc::AccGraph& graph) { return bfs(graph, hub).stats; });
    program("sssp", graph_, {.weights = true},
            [&](const acc::AccGraph& graph) { return sssp(graph, hub).stats; });
    program("wcc", graph_, {}, [](const acc::AccGraph& graph) { return components(graph).stats; });
    program("kcore", graph_, {.simple = true},
            [](const acc::AccGraph& graph) { return core_numbers(graph).stats; });
    if (!options_.wants("bp")) return;
    const acc::BeliefModel model = two_states(graph_);
    acc::BeliefOptions rounds;
    rounds.tolerance = 0, rounds.max_iterations = kBeliefRounds;
    program("bp, 2 states, 10 rounds", graph_, acc::belief_needs(device_, graph_, model.states),
            [&](const acc::AccGraph& graph) { return propagate_beliefs(graph, model, rounds).stats; });
  }

  /// Measures a search along a path: as many rounds as vertices, with almost no work in each.
  void path() {
    const std::uint64_t vertices = device_.is_cuda() ? kPath : kPathOnHost;
    const std::string name = fmt::format("bfs, path of {} vertices", vertices);
    if (!options_.wants(name)) return;
    const Graph path = path_of(vertices);
    program(name, path, {.in_edges = true}, [](const acc::AccGraph& graph) { return bfs(graph, 0).stats; });
  }

  using Run = std::function<acc::AccStats(const acc::AccGraph&)>;

  /// Measures the rounds of a program on all ranks compared with those on one.
  void program(const std::string& name, const Graph& input, const acc::AccNeeds& needs, const Run& run) {
    compare_with_one(name, [&](WorkingRanks working) {
      acc::AccPlace place;
      if (working == WorkingRanks::all) place.ranks = &world();
      const auto graph = std::make_shared<acc::AccGraph>(device_, input, needs, place);
      return [&run, graph] {
        const acc::AccStats stats = run(*graph);
        return Cost{stats.compute_seconds, static_cast<double>(stats.exchanged_bytes - stats.prepared_bytes),
                    static_cast<double>(stats.rounds), static_cast<double>(stats.edges)};
      };
    });
  }

  /// Measures queries; each rank answers an equal share. The graph is on each rank, or ranks share it out:
  /// then GPUs read lists in each other's memory, or ranks send them.
  void queries() {
    const Instance count = device_.is_cuda() ? kQueries : kQueriesOnHost;
    const Starts starts = random_starts(count);
    ppr::Options options;
    options.method = ppr::Method::push, options.residual_threshold = kResidual;
    const std::string name = fmt::format("ppr, {} queries", count);
    const auto measure_queries = [&](const std::string& suffix, const PagingOptions& shared) {
      compare_with_one(name + suffix, [&](WorkingRanks working) {
        const Instance rank = working == WorkingRanks::all ? static_cast<Instance>(world().rank()) : 0;
        const Instance size = working == WorkingRanks::all ? ranks() : 1;
        const PagingOptions paging = working == WorkingRanks::all ? shared : PagingOptions{};
        return [&, rank, size, paging] {
          NullSink null_sink;
          const auto backend = make_ppr_backend(device_, graph_, starts, options, paging, count);
          return Cost{
              run_ppr(*backend, {count * rank / size, count * (rank + 1) / size}, null_sink).compute_seconds};
        };
      });
    };
    measure_queries("", {});
    measure_queries(", shard", {.shard = &world()});
    if (device_.is_cuda()) measure_queries(", shard, lists travel", {.shard = &world(), .peer_reads = false});
  }

  /// Measures random batches, followed by the first rank alone, by all ranks together, and by all ranks with
  /// a part of the graph's file each. The graph changes.
  void batches() {
    const std::string name = fmt::format("dfp, batch {:.0e}", kBatch),
                      in_parts = fmt::format("dfp, shard, batch {:.0e}", kBatch);
    const bool whole = begin(name), shard = ranks() > 1 && begin(in_parts);
    if (!whole && !shard) return;
    graph_.weighted = false;
    graph_.out.weights = {}, graph_.in.weights = {};
    const bool leads = world().is_root();
    pagerank::RankPlace on_all_ranks;
    on_all_ranks.ranks = &world();
    pagerank::Options options;
    const pagerank::Result first = pagerank::run_pagerank(device_, graph_, options);
    std::optional<pagerank::DynamicRanks> one, all, parts;
    if (leads) one.emplace(device_, graph_, first.ranks.span(), options);
    if (ranks() > 1 && whole) all.emplace(device_, graph_, first.ranks.span(), options, on_all_ranks);
    GraphFile file(options_, graph_);
    Graph part;
    if (shard) {
      part = open_shared(file.path(), false);
      parts.emplace(device_, part, first.ranks.span(), options, on_all_ranks);
    }
    const unsigned threads = std::max(device_.threads(), usable_cores() / static_cast<unsigned>(ranks()));
    std::mt19937_64 random(options_.seed);
    std::vector<Cost> one_costs(options_.repetitions + 1), all_costs(one_costs.size()),
        part_costs(one_costs.size());
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      const UpdateBatch batch = random_batch(graph_, kBatch, random);
      const auto follow = [&](std::optional<pagerank::DynamicRanks>& ranks, const UpdateResult& update,
                              Cost& cost) {
        world().barrier("batches");
        if (!ranks) return;
        const pagerank::DynamicRankResult result = ranks->follow(update.graph, update.changes, {});
        const double seconds = result.setup_seconds + result.compute_seconds;
        cost = {seconds, static_cast<double>(result.traffic.exchanged_bytes),
                static_cast<double>(result.iterations), static_cast<double>(result.gathered_edges),
                device_.is_cuda() ? seconds - result.shared_seconds : result.update_seconds};
      };
      UpdateResult update = update_graph(std::move(graph_), batch, threads);
      follow(one, update, one_costs[r]);
      follow(all, update, all_costs[r]);
      graph_ = std::move(update.graph);
      if (!parts) continue;
      update = update_graph(std::move(part), batch, threads);
      follow(parts, update, part_costs[r]);
      part = std::move(update.graph);
    }
    const double one_rank = add_costs(name + ", one rank", one_costs, 0);
    all_costs.back().replicated = one_costs.back().replicated;
    if (all) add_costs(name, all_costs, one_rank);
    part_costs.back().replicated = 0;  // no rank has the whole graph
    if (parts) add_costs(in_parts, part_costs, one_rank);
  }

  /// Measures the same work on all ranks and on one; prepare(who)() does it once and returns its cost.
  template <class Prepare>
  void compare_with_one(const std::string& name, const Prepare& prepare) {
    if (!options_.wants(name)) return;
    const double one = measure_cost(name + ", one rank", prepare, WorkingRanks::first, 0);
    if (ranks() > 1) measure_cost(name, prepare, WorkingRanks::all, one);
  }

  template <class Prepare>
  double measure_cost(const std::string& name, const Prepare& prepare, WorkingRanks working, double one) {
    if (options_.progress) options_.progress(name);
    std::vector<Cost> costs(options_.repetitions + 1);
    world().barrier("rounds");
    if (working == WorkingRanks::all || world().is_root()) {
      const auto run = prepare(working);
      for (Cost& cost : costs) cost = run();
    }
    return add_costs(name, costs, one);
  }

  /// `costs` are this rank's; the first run is a warm-up. Returns the median of the slowest rank's times.
  double add_costs(const std::string& name, std::span<const Cost> costs, double one) {
    std::vector<double> times;
    for (const Cost& cost : costs) times.push_back(1e3 * cost.seconds);
    world().all_reduce(times, Reduce::max, "rounds");
    times.erase(times.begin());
    Figure& figure = add_figure(name, times, "ms");
    figure.columns = columns_of(one / figure.value, costs.back());
    return figure.value;
  }

  /// Columns, also for the model of more ranks (page/rank_model.hpp); `times_one` is 0 for one rank. All
  /// ranks call it.
  static Columns columns_of(double times_one, const Cost& cost) {
    double bytes[] = {cost.bytes}, maxima[] = {cost.rounds, cost.edges};
    world().all_reduce(bytes, Reduce::sum, "bytes");
    world().all_reduce(maxima, Reduce::max, "rounds");
    Columns columns;
    if (times_one > 0)
      columns = {
          {"times one rank", times_one}, {"MB from GPU to GPU", 1e-6 * bytes[0]}, {"rounds", maxima[0]}};
    if (maxima[1] > 0) columns.emplace_back("M edges", 1e-6 * maxima[1]);
    if (times_one > 0 && cost.replicated > 0) columns.emplace_back("alike s", cost.replicated);
    return columns;
  }

  Vertex largest_vertex() const {
    const auto& offsets = graph_.out.offsets;
    Vertex largest = 0;
    for (Vertex v = 0; v < graph_.vertices(); ++v)
      if (offsets[v + 1] - offsets[v] > offsets[largest + 1] - offsets[largest]) largest = v;
    return largest;
  }

  Graph graph_;
};

}  // namespace

std::vector<Figure> run_scaling(Device& device, const Options& options) {
  return ScalingSuite(device, options).run();
}

}  // namespace sluice::bench
