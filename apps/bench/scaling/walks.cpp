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

constexpr double kWarmUp = 0.5;      ///< seconds of walks
constexpr unsigned kMaxWarmUps = 5;  ///< each run shares the graph out again, which takes longer

/// A third of the graph is on each device at a time: more than its part of it where three share it out.
constexpr PagingOptions kThird{.partitions = 48, .slots = 16};

constexpr std::uint64_t kSeeds = 1u << 20;

/// Walks or samples; each rank makes a range of the instances.
struct Work {
  std::string name;
  const char* unit;
  std::uint64_t instances;
  std::function<RunStats(ResidentGraph&, Instance first, Instance last)> run;
};

/// The result of one run on all ranks.
struct StudyResult {
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
    const Work uniform = uniform_walks(1), weak_work = uniform_walks(ranks());
    samples::Options neighbor;
    neighbor.fanout = {15, 10};
    const Work others[] = {
        node2vec(), sampled("neighbor 15,10", neighbor, std::min<std::uint64_t>(graph_.vertices(), kSeeds))};
    {
      ResidentGraph whole(device_, graph_);
      study_one_rank(whole, uniform, "");
      study("replicate, strong", whole, uniform);
      study("replicate, weak", whole, weak_work);
      for (const Work& work : others) study_one_rank(whole, work, work.name + ", ");
      study_groups(whole);
    }
    {
      ResidentGraph third(device_, graph_, kThird);
      study("replicate out of core, strong", third, uniform);
    }
    if (ranks() > 1) study_sharded(uniform, weak_work, others);
  }

 private:
  static std::uint64_t ranks() { return static_cast<std::uint64_t>(world().size()); }

  void study_sharded(const Work& uniform, const Work& weak_work, std::span<const Work> others) {
    PagingOptions paging;
    paging.shard = &world(), paging.transport = Transport::copied;
    {
      ResidentGraph shared(device_, graph_, paging);
      study("shard, strong", shared, uniform);
      study("shard, weak", shared, weak_work);
      for (const Work& work : others) {
        const StudyResult median_run = study(work.name + ", shard, strong", shared, work);
        // If no work travels, ranks read each other's memory: one target per drawn edge, if another rank owns
        // it.
        const double remote_share = 1 - 1 / static_cast<double>(ranks());
        if (median_run.entries == 0)
          figures_.back().columns.emplace_back("M reads of others",
                                               median_run.rate * median_run.slowest * remote_share);
      }
    }
    if (!device_.is_cuda()) return;
    // On GPUs, measure travelling work too, in place of reads of each other's memory.
    paging.peer_reads = false;
    ResidentGraph shared(device_, graph_, paging);
    study(others.back().name + ", shard, work travels, strong", shared, others.back());
  }

  /// Measures the first rank alone. Returns its seconds.
  double study_one_rank(ResidentGraph& whole, const Work& work, const std::string& name) {
    // Every rank builds tables that are worth it for all walks, but not for its share.
    measure(whole, work, WorkingRanks::each);
    const StudyResult median_run = study(name + "one rank", whole, work, WorkingRanks::first);
    one_[work.name] = median_run.rate;
    return median_run.slowest;
  }

  /// A line through the times of few and many instances on one rank gives a time for no instances. Each of
  /// several ranks takes that time as well.
  void study_groups(ResidentGraph& whole) {
    const std::vector<Work> groups = instance_groups();
    const Work &small = groups.front(), &large = groups.back();
    std::map<std::string, double> seconds;
    for (const Work& work : groups) seconds[work.name] = study_one_rank(whole, work, work.name + ", ");
    const double each = (seconds[large.name] - seconds[small.name]) /
                        static_cast<double>(large.instances - small.instances),
                 replicated = seconds[small.name] - each * static_cast<double>(small.instances);
    for (const Work& work : groups) {
      study(work.name, whole, work);
      if (replicated > 0) figures_.back().columns.emplace_back("alike s", replicated);
    }
  }

  Work uniform_walks(std::uint64_t rounds) const {
    return {"walks", "M steps/s", rounds * graph_.vertices(),
            [this, rounds](ResidentGraph& graph, Instance first, Instance last) {
              Starts starts;
              starts.rounds = rounds;
              return walk(graph, starts, {}, first, last);
            }};
  }
  Work node2vec() const {
    return {"node2vec", "M steps/s", graph_.vertices(),
            [this](ResidentGraph& graph, Instance first, Instance last) {
              walks::Options options;
              options.kind = walks::Kind::node2vec, options.p = 2, options.q = 0.5;
              return walk(graph, {}, options, first, last);
            }};
  }
  RunStats walk(ResidentGraph& graph, const Starts& starts, walks::Options options, Instance first,
                Instance last) const {
    options.seed = options_.seed, options.first_instance = first, options.last_instance = last;
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
            [this, options, seeds](ResidentGraph& graph, Instance first, Instance last) mutable {
              options.seed = options_.seed, options.first_instance = first, options.last_instance = last;
              return sampling::run_samples(graph, random_starts(seeds), options, nullptr);
            }};
  }

  /// Returns the run with the median rate.
  StudyResult study(const std::string& name, ResidentGraph& graph, const Work& work,
                    WorkingRanks working = WorkingRanks::all) {
    if (options_.progress) options_.progress(name);
    // The first run makes tables and connections, and GPUs that waited for others take a while to reach full
    // speed.
    const double min_warm_up = device_.is_cuda() ? kWarmUp : 0;
    double warm = 0;
    unsigned warm_ups = 0;
    do warm += measure(graph, work, working).slowest;
    while (warm < min_warm_up && ++warm_ups < kMaxWarmUps);
    std::vector<StudyResult> runs;
    for (unsigned r = 0; r < options_.repetitions; ++r) runs.push_back(measure(graph, work, working));
    std::sort(runs.begin(), runs.end(),
              [](const StudyResult& a, const StudyResult& b) { return a.rate < b.rate; });
    const StudyResult& median_run = runs[runs.size() / 2];
    Figure figure{name, median_run.rate, work.unit, runs.front().rate, runs.back().rate, {}};
    if (working == WorkingRanks::all) {
      figure.columns = {{"times one rank", median_run.rate / one_.at(work.name)},
                        {"efficiency", median_run.rate / one_.at(work.name) / world().size()},
                        {"slowest rank s", median_run.slowest},
                        {"mean rank s", median_run.mean},
                        {"fastest rank s", median_run.fastest},
                        {"entries exchanged", median_run.entries},
                        {"exchange %", median_run.exchange},
                        {"MB from GPU to GPU", 1e-6 * median_run.bytes},
                        {"rounds", median_run.rounds}};
    }
    figures_.push_back(std::move(figure));
    return median_run;
  }

  StudyResult measure(ResidentGraph& graph, const Work& work, WorkingRanks working) const {
    const std::uint64_t rank = working == WorkingRanks::each ? 0 : static_cast<std::uint64_t>(world().rank());
    const std::uint64_t size = working == WorkingRanks::all ? ranks() : 1;
    RunStats stats;
    double exchange = 0, seconds = 0;
    world().barrier("a study of walks");
    if (rank < size) {
      const double exchange_begin = world().seconds(), begin = seconds_now();
      stats = work.run(graph, work.instances * rank / size, work.instances * (rank + 1) / size);
      seconds = seconds_now() - begin;
      exchange = world().seconds() - exchange_begin + stats.exchange_seconds;
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
