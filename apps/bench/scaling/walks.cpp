#include "apps/bench/scaling/walks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "apps/bench/figures.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/clock.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

using apps::world;

constexpr double kWarmUp = 0.5;       ///< seconds of walks
constexpr unsigned kMostWarmUps = 5;  ///< each run shares the graph out again, which takes longer

/// A third of the graph is on each device at a time: more than its part of it where three share it out.
constexpr PagingOptions kThird{.partitions = 48, .slots = 16};

constexpr std::uint64_t kSeeds = 1u << 20;

/// Walks or samples; each rank makes a range of the instances.
struct Work {
  std::string name;
  const char* unit;
  std::uint64_t instances;
  std::function<RunStats(ResidentGraph&, Instance from, Instance to)> run;
};

/// The result of one run on all ranks.
struct Scaled {
  double rate = 0;                            ///< M steps a second, by the time of the slowest rank
  double slowest = 0, mean = 0, fastest = 0;  ///< seconds of a rank
  double exchange = 0;                        ///< percent of the ranks' time
  double entries = 0;                         ///< walks that moved to another rank
  double bytes = 0;                           ///< that GPUs sent each other
  double rounds = 0;                          ///< of the rank with most
};

class WalkStudies {
 public:
  WalkStudies(Device& device, const Options& options, const Graph& graph, std::vector<Figure>& figures)
      : device_(device), options_(options), graph_(graph), figures_(figures) {}

  void run() {
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
      study_groups(whole);
    }
    {
      ResidentGraph third(device_, graph_, kThird);
      study("replicate out of core, strong", third, uniform);
    }
    if (ranks() > 1) shared_out(uniform, more, others);
  }

 private:
  static std::uint64_t ranks() { return static_cast<std::uint64_t>(world().size()); }

  void shared_out(const Work& uniform, const Work& more, std::span<const Work> others) {
    PagingOptions paging;
    paging.shard = &world(), paging.transport = Transport::copied;
    {
      ResidentGraph shared(device_, graph_, paging);
      study("shard, strong", shared, uniform);
      study("shard, weak", shared, more);
      for (const Work& work : others) {
        const Scaled usual = study(work.name + ", shard, strong", shared, work);
        // If no work travels, ranks read each other's memory: one target per drawn edge, if another rank owns
        // it.
        const double others_share = 1 - 1 / static_cast<double>(ranks());
        if (usual.entries == 0)
          figures_.back().columns.emplace_back("M reads of others",
                                               usual.rate * usual.slowest * others_share);
      }
    }
    if (!device_.is_cuda()) return;
    // On GPUs, measure travelling work too, in place of reads of each other's memory.
    paging.peer_reads = false;
    ResidentGraph shared(device_, graph_, paging);
    study(others.back().name + ", shard, work travels, strong", shared, others.back());
  }

  /// Measures the first rank alone. Returns its seconds.
  double alone(ResidentGraph& whole, const Work& work, const std::string& name) {
    // Every rank builds tables that are worth it for all walks, but not for its share.
    measure(whole, work, Who::each);
    const Scaled usual = study(name + "one rank", whole, work, Who::first);
    one_[work.name] = usual.rate;
    return usual.slowest;
  }

  /// A line through the times of few and many instances on one rank gives a time for no instances. Each of
  /// several ranks takes that time as well.
  void study_groups(ResidentGraph& whole) {
    const std::vector<Work> groups = instance_groups();
    const Work &few = groups.front(), &many = groups.back();
    std::map<std::string, double> seconds;
    for (const Work& work : groups) seconds[work.name] = alone(whole, work, work.name + ", ");
    const double each = (seconds[many.name] - seconds[few.name]) /
                        static_cast<double>(many.instances - few.instances),
                 alike = seconds[few.name] - each * static_cast<double>(few.instances);
    for (const Work& work : groups) {
      study(work.name, whole, work);
      if (alike > 0) figures_.back().columns.emplace_back("alike s", alike);
    }
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
  /// Biased neighbor sampling by instance groups, as in C-SAW's Fig. 17.
  std::vector<Work> instance_groups() const {
    samples::Options options;
    options.bias = Bias::degree, options.fanout = {8, 8, 8};
    return {sampled("C-SAW scaling: biased neighbor, 2,000 instances", options, 2000),
            sampled("C-SAW scaling: biased neighbor, 8,000 instances", options, 8000)};
  }
  Work sampled(std::string name, samples::Options options, std::uint64_t seeds) const {
    return {std::move(name), "M edges/s", seeds,
            [this, options, seeds](ResidentGraph& graph, Instance from, Instance to) mutable {
              options.seed = options_.seed, options.first_instance = from, options.last_instance = to;
              return sampling::run_samples(graph, random_starts(seeds), options, nullptr);
            }};
  }

  /// Returns the run with the median rate.
  Scaled study(const std::string& name, ResidentGraph& graph, const Work& work, Who who = Who::all) {
    if (options_.progress) options_.progress(name);
    // The first run makes tables and connections, and GPUs that waited for others take a while to reach full
    // speed.
    const double enough = device_.is_cuda() ? kWarmUp : 0;
    double warm = 0;
    unsigned warm_ups = 0;
    do warm += measure(graph, work, who).slowest;
    while (warm < enough && ++warm_ups < kMostWarmUps);
    std::vector<Scaled> runs;
    for (unsigned r = 0; r < options_.repetitions; ++r) runs.push_back(measure(graph, work, who));
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
                        {"exchange %", usual.exchange},
                        {"MB from GPU to GPU", 1e-6 * usual.bytes},
                        {"rounds", usual.rounds}};
    }
    figures_.push_back(std::move(figure));
    return usual;
  }

  Scaled measure(ResidentGraph& graph, const Work& work, Who who) const {
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
    double slowest[] = {stats.compute_seconds, rank < size ? -stats.compute_seconds : -1e300,
                        static_cast<double>(stats.rounds)};
    double sums[] = {static_cast<double>(stats.steps),
                     static_cast<double>(stats.entries_sent),
                     exchange,
                     seconds,
                     stats.compute_seconds,
                     static_cast<double>(stats.exchanged_bytes)};
    world().all_reduce(slowest, Reduce::max, "a study of walks");
    world().all_reduce(sums, Reduce::sum, "a study of walks");
    return {sums[0] / slowest[0] * 1e-6,
            slowest[0],
            sums[4] / static_cast<double>(size),
            -slowest[1],
            100 * sums[2] / sums[3],
            sums[1],
            sums[5],
            slowest[2]};
  }

  Device& device_;
  const Options& options_;
  const Graph& graph_;
  std::vector<Figure>& figures_;
  std::map<std::string, double> one_;  ///< the rate of one rank, by work
};

}  // namespace

void scale_walks(Device& device, const Options& options, const Graph& graph, std::vector<Figure>& figures) {
  WalkStudies(device, options, graph, figures).run();
}

}  // namespace sluice::bench
