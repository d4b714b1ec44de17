// sluice-bench scaling: walks and samples on all ranks of the job beside the same on one of them, with the
// graph on every rank, in partitions that come and go on every rank, and shared out among them; and
// iterations of PageRank, searches, paths, cores, components, beliefs, queries of personalized PageRank and
// batches of changes on all ranks and on one.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/workload.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/shared_graph.hpp"
#include "engine/acc/acc_graph.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/solve.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

using apps::world;

constexpr double kWarmUp = 0.5;       ///< seconds of walks
constexpr unsigned kMostWarmUps = 5;  ///< each run shares the graph out anew, which takes longer

/// A third of the graph is on each device at a time: more than its part of it where three share it out.
constexpr PagingOptions kThird{.partitions = 48, .slots = 16};

constexpr std::uint64_t kSeeds = 1u << 20;
constexpr Instance kQueries = 65536, kQueriesOnHost = 64;
constexpr double kResidual = 1e-4;  ///< with the default, a query reaches most of a graph of this size
constexpr std::uint32_t kBeliefRounds = 10;
constexpr double kBatch = 1e-4;  ///< of the edges change

struct NoScores : ppr::Sink {
  void write(const ppr::Batch&) override {}
};

/// So many walks or samples, of which each rank makes a range.
struct Work {
  std::string name;
  const char* unit;
  std::uint64_t instances;
  std::function<RunStats(ResidentGraph&, Instance from, Instance to)> run;
};

/// Who makes the walks: all ranks together, the first alone, or each all of them.
enum class Who { all, first, each };

/// What all ranks did in one run.
struct Scaled {
  double rate = 0;                            ///< M steps a second, in the time of the slowest
  double slowest = 0, mean = 0, fastest = 0;  ///< seconds of a rank
  double exchange = 0;                        ///< per cent of the ranks' time
  double entries = 0;                         ///< walks that changed hands
};

class ScalingSuite {
 public:
  ScalingSuite(Device& device, const Options& options)
      : device_(device),
        options_(options),
        graph_(options.graph.empty()
                   ? load_graph(device, options)
                   : apps::read_graph_once_a_node(options.graph, io::read_graph_info(options.graph))) {}

  std::vector<Figure> run() {
    plain("ranks", world().size());
    plain("vertices", static_cast<double>(graph_.vertices()));
    plain("stored edges", static_cast<double>(graph_.edges()));
    if (options_.wants("walks")) walks();
    iterations();
    programs();
    queries();
    batches();
    return std::move(figures_);
  }

 private:
  static std::uint64_t ranks() { return static_cast<std::uint64_t>(world().size()); }

  void plain(const char* name, double value) { figures_.push_back({name, value, "", value, value, {}}); }

  void walks() {
    const Work uniform = uniform_walks(1), more = uniform_walks(ranks());
    samples::Options fans;
    fans.fanout = {15, 10};
    const Work others[] = {
        node2vec(), sampled("neighbor 15,10", fans, std::min<std::uint64_t>(graph_.vertices(), kSeeds))};
    {
      ResidentGraph whole(device_, graph_);
      alone(whole, uniform, "");
      study("replicate, strong", whole, uniform);
      study("replicate, weak", whole, more);
      for (const Work& work : others) alone(whole, work, work.name + ", ");
      for (const Work& work : instance_groups())
        alone(whole, work, work.name + ", "), study(work.name, whole, work);
    }
    {
      ResidentGraph third(device_, graph_, kThird);
      study("replicate out of core, strong", third, uniform);
    }
    if (ranks() > 1) shared_out(uniform, more, others);
  }

  void shared_out(const Work& uniform, const Work& more, std::span<const Work> others) {
    PagingOptions paging;
    paging.shard = &world(), paging.transport = Transport::copied;
    {
      ResidentGraph shared(device_, graph_, paging);
      study("shard, strong", shared, uniform);
      study("shard, weak", shared, more);
      for (const Work& work : others) study(work.name + ", shard, strong", shared, work);
    }
    if (!device_.is_cuda()) return;
    // GPUs could read each other's memory instead.
    paging.peer_reads = false;
    ResidentGraph shared(device_, graph_, paging);
    study(others.back().name + ", shard, work travels, strong", shared, others.back());
  }

  /// On the first rank.
  void alone(ResidentGraph& whole, const Work& work, const std::string& name) {
    // Tables that pay for all walks, but not for a rank's share of them, are on every rank.
    run(whole, work, Who::each);
    one_[work.name] = study(name + "one rank", whole, work, Who::first);
  }

  Work uniform_walks(std::uint64_t rounds) const {
    return {"walks", "M steps/s", rounds * graph_.vertices(),
            [this, rounds](ResidentGraph& graph, Instance from, Instance to) {
              Starts starts;
              starts.rounds = rounds;
              return walk(graph, starts, {}, from, to);
            }};
  }
  Work node2vec() const {
    return {"node2vec", "M steps/s", graph_.vertices(),
            [this](ResidentGraph& graph, Instance from, Instance to) {
              walks::Options options;
              options.kind = walks::Kind::node2vec, options.p = 2, options.q = 0.5;
              return walk(graph, {}, options, from, to);
            }};
  }
  RunStats walk(ResidentGraph& graph, const Starts& starts, walks::Options options, Instance from,
                Instance to) const {
    options.seed = options_.seed, options.first_instance = from, options.last_instance = to;
    return sampling::run_walks(graph, starts, options, nullptr);
  }
  /// Biased neighbor sampling by instance groups, as C-SAW's Fig. 17 has it.
  std::vector<Work> instance_groups() const {
    samples::Options options;
    options.bias = Bias::degree, options.fanout = {8, 8, 8};
    return {sampled("C-SAW scaling: biased neighbor, 2,000 instances", options, 2000),
            sampled("C-SAW scaling: biased neighbor, 8,000 instances", options, 8000)};
  }
  Work sampled(std::string name, samples::Options options, std::uint64_t seeds) const {
    return {std::move(name), "M edges/s", seeds,
            [this, options, seeds](ResidentGraph& graph, Instance from, Instance to) mutable {
              Starts starts;
              starts.mode = Starts::Mode::random, starts.count = seeds;
              options.seed = options_.seed, options.first_instance = from, options.last_instance = to;
              return sampling::run_samples(graph, starts, options, nullptr);
            }};
  }

  /// With what ranks give each other sent while they sweep, and only behind that: GPUs that NCCL connects.
  void iterations() {
    const double one = iteration("pagerank, one rank", Who::first, 0, 0);
    if (ranks() == 1) return;
    iteration("pagerank", Who::all, 0, one);
    if (device_.is_cuda()) iteration("pagerank, nothing overlaps", Who::all, 1, one);
  }

  /// In stored edges a second; the first iteration warms up. Returns the rate.
  double iteration(const std::string& name, Who who, unsigned pieces, double one) {
    if (!options_.wants(name)) return 0;
    if (options_.progress) options_.progress(name);
    pagerank::Options options;
    options.tolerance = 0;
    options.max_iterations = options_.repetitions + 1;
    std::vector<double> seconds(options.max_iterations, 0);
    world().barrier("iterations of PageRank");
    if (who == Who::all || world().leads()) {
      pagerank::RankPlace place;
      if (who == Who::all) place.ranks = &world();
      place.pieces = pieces;
      const pagerank::Result result = pagerank::run_pagerank(device_, graph_, options, {}, place);
      for (std::size_t i = 0; i < result.history.size(); ++i) seconds[i] = result.history[i].seconds;
    }
    world().all_reduce(seconds, Reduce::max, "iterations of PageRank");
    std::vector<double> rates;
    for (std::size_t i = 1; i < seconds.size(); ++i)
      if (seconds[i] > 0) rates.push_back(static_cast<double>(graph_.edges()) / seconds[i] * 1e-9);
    if (rates.empty()) return 0;
    std::sort(rates.begin(), rates.end());
    const double usual = rates[rates.size() / 2];
    Figure figure{name, usual, "G edges/s", rates.front(), rates.back(), {}};
    if (one > 0) figure.columns = {{"times one rank", usual / one}};
    figures_.push_back(std::move(figure));
    return usual;
  }

  void programs() {
    const Vertex hub = largest_vertex();
    program("bfs", {.in_edges = true}, [&](const acc::AccGraph& graph) { return bfs(graph, hub).stats; });
    program("sssp", {.weights = true}, [&](const acc::AccGraph& graph) { return sssp(graph, hub).stats; });
    program("wcc", {}, [](const acc::AccGraph& graph) { return components(graph).stats; });
    program("kcore", {.simple = true}, [](const acc::AccGraph& graph) { return core_numbers(graph).stats; });
    if (!options_.wants("bp")) return;
    const acc::BeliefModel model = two_states(graph_);
    acc::BeliefOptions rounds;
    rounds.tolerance = 0, rounds.max_iterations = kBeliefRounds;
    program("bp, 2 states, 10 rounds", acc::belief_needs(device_, graph_, model.states),
            [&](const acc::AccGraph& graph) { return propagate_beliefs(graph, model, rounds).stats; });
  }

  using Run = std::function<acc::AccStats(const acc::AccGraph&)>;

  /// Rounds on all ranks beside those on one.
  void program(const std::string& name, const acc::AccNeeds& needs, const Run& run) {
    beside_one(name, [&](Who who) {
      acc::AccPlace place;
      if (who == Who::all) place.ranks = &world();
      const auto graph = std::make_shared<acc::AccGraph>(device_, graph_, needs, place);
      return [&run, graph] { return run(*graph).compute_seconds; };
    });
  }

  /// Of which each rank answers an equal share.
  void queries() {
    const Instance count = device_.is_cuda() ? kQueries : kQueriesOnHost;
    Starts starts;
    starts.mode = Starts::Mode::random, starts.count = count;
    ppr::Options options;
    options.method = ppr::Method::push, options.residual_threshold = kResidual;
    beside_one(fmt::format("ppr, {} queries", count), [&](Who who) {
      const Instance rank = who == Who::all ? static_cast<Instance>(world().rank()) : 0;
      const Instance size = who == Who::all ? ranks() : 1;
      const std::shared_ptr<ppr::Backend> backend =
          make_ppr_backend(device_, graph_, starts, options, {}, count);
      return [=] {
        NoScores nothing;
        return run_ppr(*backend, {count * rank / size, count * (rank + 1) / size}, nothing).compute_seconds;
      };
    });
  }

  /// Random batches that ranks follow, all together and the first alone. The graph changes.
  void batches() {
    const std::string name = fmt::format("dfp, batch {:.0e}", kBatch);
    if (!options_.wants(name)) return;
    if (options_.progress) options_.progress(name);
    graph_.weighted = false;
    graph_.out.weights = {}, graph_.in.weights = {};
    const bool alone = world().leads();
    pagerank::RankPlace shared;
    shared.ranks = &world();
    pagerank::Options options;
    const pagerank::Result first = pagerank::run_pagerank(device_, graph_, options);
    std::optional<pagerank::DynamicRanks> one, all;
    if (alone) one.emplace(device_, graph_, first.ranks.span(), options);
    if (ranks() > 1) all.emplace(device_, graph_, first.ranks.span(), options, shared);
    const unsigned threads = std::max(device_.threads(), usable_cores() / static_cast<unsigned>(ranks()));
    std::mt19937_64 random(options_.seed);
    std::vector<double> one_times(options_.repetitions + 1), all_times(one_times.size());
    for (unsigned r = 0; r <= options_.repetitions; ++r) {
      const UpdateBatch batch = random_batch(graph_, kBatch, random);
      UpdateResult update = update_graph(std::move(graph_), batch, threads);
      const auto follow = [&](std::optional<pagerank::DynamicRanks>& ranks, double& time) {
        world().barrier("batches");
        if (!ranks) return;
        const pagerank::DynamicRankResult result = ranks->follow(update.graph, update.changes, {});
        time = (result.setup_seconds + result.compute_seconds) * 1e3;
      };
      follow(one, one_times[r]);
      follow(all, all_times[r]);
      graph_ = std::move(update.graph);
    }
    const double usual = put_times(name + ", one rank", one_times, 0);
    if (ranks() > 1) put_times(name, all_times, usual);
  }

  /// Work on all ranks beside the same on one; prepare(who) gives what does it once and says its seconds.
  template <class Prepare>
  void beside_one(const std::string& name, const Prepare& prepare) {
    if (!options_.wants(name)) return;
    const double one = time_of(name + ", one rank", prepare, Who::first, 0);
    if (ranks() > 1) time_of(name, prepare, Who::all, one);
  }

  template <class Prepare>
  double time_of(const std::string& name, const Prepare& prepare, Who who, double one) {
    if (options_.progress) options_.progress(name);
    std::vector<double> times(options_.repetitions + 1, 0);
    world().barrier("rounds");
    if (who == Who::all || world().leads()) {
      const auto run = prepare(who);
      for (double& time : times) time = run() * 1e3;
    }
    return put_times(name, times, one);
  }

  /// Milliseconds of this rank; the first run warms up. Returns the median of the slowest rank's.
  double put_times(const std::string& name, std::vector<double>& times, double one) {
    world().all_reduce(times, Reduce::max, "rounds");
    std::sort(times.begin() + 1, times.end());
    const double usual = times[1 + options_.repetitions / 2];
    Figure figure{name, usual, "ms", times[1], times.back(), {}};
    if (one > 0) figure.columns = {{"times one rank", one / usual}};
    figures_.push_back(std::move(figure));
    return usual;
  }

  Vertex largest_vertex() const {
    const auto& offsets = graph_.out.offsets;
    Vertex largest = 0;
    for (Vertex v = 0; v < graph_.vertices(); ++v)
      if (offsets[v + 1] - offsets[v] > offsets[largest + 1] - offsets[largest]) largest = v;
    return largest;
  }

  /// Returns the rate.
  double study(const std::string& name, ResidentGraph& graph, const Work& work, Who who = Who::all) {
    if (options_.progress) options_.progress(name);
    // The first makes tables and connections, and GPUs that waited for others take a while to run at full
    // speed.
    const double enough = device_.is_cuda() ? kWarmUp : 0;
    double warm = 0;
    unsigned warm_ups = 0;
    do warm += run(graph, work, who).slowest;
    while (warm < enough && ++warm_ups < kMostWarmUps);
    std::vector<Scaled> runs;
    for (unsigned r = 0; r < options_.repetitions; ++r) runs.push_back(run(graph, work, who));
    std::sort(runs.begin(), runs.end(), [](const Scaled& a, const Scaled& b) { return a.rate < b.rate; });
    const Scaled& usual = runs[runs.size() / 2];
    Figure figure{name, usual.rate, work.unit, runs.front().rate, runs.back().rate, {}};
    if (who == Who::all) {
      figure.columns = {{"times one rank", usual.rate / one_.at(work.name)},
                        {"efficiency", usual.rate / one_.at(work.name) / world().size()},
                        {"slowest rank s", usual.slowest},
                        {"mean rank s", usual.mean},
                        {"fastest rank s", usual.fastest},
                        {"entries exchanged", usual.entries},
                        {"exchange %", usual.exchange}};
    }
    figures_.push_back(std::move(figure));
    return usual.rate;
  }

  Scaled run(ResidentGraph& graph, const Work& work, Who who) const {
    const std::uint64_t rank = who == Who::each ? 0 : static_cast<std::uint64_t>(world().rank());
    const std::uint64_t size = who == Who::all ? ranks() : 1;
    RunStats stats;
    double exchange = 0, seconds = 0;
    world().barrier("a study of walks");
    if (rank < size) {
      const double said = world().seconds(), begin = seconds_now();
      stats = work.run(graph, work.instances * rank / size, work.instances * (rank + 1) / size);
      seconds = seconds_now() - begin;
      exchange = world().seconds() - said + stats.exchange_seconds;
    }
    double slowest[] = {stats.compute_seconds, rank < size ? -stats.compute_seconds : -1e300};
    double sums[] = {static_cast<double>(stats.steps), static_cast<double>(stats.entries_sent), exchange,
                     seconds, stats.compute_seconds};
    world().all_reduce(slowest, Reduce::max, "a study of walks");
    world().all_reduce(sums, Reduce::sum, "a study of walks");
    return {sums[0] / slowest[0] * 1e-6, slowest[0], sums[4] / static_cast<double>(size), -slowest[1],
            100 * sums[2] / sums[3],     sums[1]};
  }

  Device& device_;
  const Options& options_;
  Graph graph_;
  std::map<std::string, double> one_;  ///< the rate of one rank, by work
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> run_scaling(Device& device, const Options& options) {
  return ScalingSuite(device, options).run();
}

}  // namespace sluice::bench
