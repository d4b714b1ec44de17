// Pools in which a step selects two entries and two weighted neighbours, with and without replacement. Every
// step is compared with the distribution of the pool before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "samples/pool_samplers.hpp"
#include "sampling/jobs.hpp"
#include "statistical/chi_square.hpp"

namespace sluice::test {
namespace {

using Law = std::map<std::vector<Vertex>, double>;  // by the sources and targets of a step

/// An edge of weight 0 is never drawn; vertex 4 has only such edges.
const std::vector<std::vector<std::pair<Vertex, float>>> kLists{{{1, 1}, {2, 2}, {3, 4}},
                                                                {{0, 3}, {2, 1}},
                                                                {{0, 1}, {1, 1}, {3, 0}, {4, 2}},
                                                                {{0, 1}, {2, 5}},
                                                                {{1, 0}, {2, 0}}};

Graph graph_of_lists() {
  Graph graph;
  graph.directed = graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(kLists.size() + 1);
  graph.out.targets = HostArray<Vertex>(13);
  graph.out.weights = HostArray<float>(13);
  EdgeIndex at = 0;
  for (std::size_t v = 0; v < kLists.size(); ++v) {
    graph.out.offsets[v] = at;
    for (const auto& [target, weight] : kLists[v])
      graph.out.targets[at] = target, graph.out.weights[at] = weight, ++at;
  }
  graph.out.offsets[kLists.size()] = at;
  return graph;
}

double weight_of(Vertex v) {
  double sum = 0;
  for (const auto& [target, weight] : kLists[v]) sum += weight;
  return sum;
}

double bias_of(Vertex v) {
  return weight_of(v) > 0 ? 1 + static_cast<double>(kLists[v].size()) : 0;
}

/// The number of edges that an entry selects.
std::size_t edges_of(Vertex v, bool distinct) {
  std::size_t candidates = 0;
  for (const auto& [target, weight] : kLists[v]) candidates += weight > 0;
  return distinct ? std::min<std::size_t>(candidates, 2) : 2;
}

/// Calls add(targets, probability) for every selection of an entry.
template <class Add>
void enumerate_neighbors(Vertex v, bool distinct, const Add& add) {
  const auto& list = kLists[v];
  for (std::size_t a = 0; a < list.size(); ++a) {
    const double first = list[a].second / weight_of(v);
    if (!(first > 0)) continue;
    if (edges_of(v, distinct) == 1) {
      add({list[a].first}, first);
      continue;
    }
    for (std::size_t b = 0; b < list.size(); ++b) {
      const double left = weight_of(v) - (distinct ? list[a].second : 0);
      const double p = distinct && a == b ? 0 : first * list[b].second / left;
      if (p > 0) add({list[a].first, list[b].first}, p);
    }
  }
}

/// Adds all continuations of a step that has made `done`, with `entries` to select from `left`.
void enumerate(const std::vector<Vertex>& left, int entries, const std::vector<Vertex>& done,
               double probability, bool distinct, Law& law) {
  double total = 0;
  for (const Vertex v : left) total += bias_of(v);
  if (entries == 0 || total == 0) {
    std::vector<Vertex> step = done;
    step.resize(8, kNoVertex);
    law[step] += probability;
    return;
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Vertex v = left[i];
    if (bias_of(v) == 0) continue;
    std::vector<Vertex> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    enumerate_neighbors(v, distinct, [&](const std::vector<Vertex>& targets, double p) {
      std::vector<Vertex> more = done;
      for (const Vertex target : targets) more.insert(more.end(), {v, target});
      enumerate(rest, entries - 1, more, probability * bias_of(v) / total * p, distinct, law);
    });
  }
}

/// Counts steps by the pool before them, in order.
struct Steps : WalkSink {
  explicit Steps(bool each_once) : distinct(each_once) {}

  void write(const WalkBatch& batch) override {
    const std::size_t seeds = batch.pool.size() / batch.count;
    for (std::size_t i = 0; i < batch.count; ++i) {
      const auto start = batch.pool.subspan(i * seeds, seeds);
      std::vector<Vertex> pool(start.begin(), start.end());
      for (std::size_t s = 0; s < batch.length; ++s) {
        const auto edges = batch.edges.subspan((i * batch.length + s) * 8, 8);
        std::sort(pool.begin(), pool.end());
        ++count[pool][{edges.begin(), edges.end()}];
        for (std::size_t at = 0; at < 8 && edges[at] != kNoVertex;) {
          const std::size_t end = at + 2 * edges_of(edges[at], distinct);
          *std::find(pool.begin(), pool.end(), edges[at]) = edges[at + 1];
          while ((at += 2) < end) pool.push_back(edges[at + 1]);
        }
      }
    }
  }
  std::map<std::vector<Vertex>, std::map<std::vector<Vertex>, std::uint64_t>> count;
  bool distinct;
};

template <class Sampler>
void expect_law(const Sampler& sampler, bool distinct) {
  const Graph graph = graph_of_lists();
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  walks::Options options;
  options.seed = 5;
  Steps steps(distinct);

  samples::run_pool(resident, random_starts(400000), sampler, 2, options, &steps);

  double statistic = 0, freedom = 0;
  for (const auto& [pool, count] : steps.count) {
    Law law;
    enumerate(pool, 2, {}, 1, distinct, law);
    std::vector<double> probability;
    std::vector<std::uint64_t> observed;
    for (const auto& [step, seen] : count) law.try_emplace(step, 0);
    for (const auto& [step, p] : law) {
      const auto seen = count.find(step);
      probability.push_back(p);
      observed.push_back(seen == count.end() ? 0 : seen->second);
    }
    const stat::Fit fit = stat::pearson(observed, probability);
    EXPECT_EQ(fit.impossible, 0u);
    EXPECT_GT(fit.p, stat::kThreshold);
    statistic += fit.statistic, freedom += fit.freedom;
  }
  EXPECT_GT(steps.count.size(), 35u);
  EXPECT_GT(stat::chi_square_tails(statistic, freedom).upper, stat::kThreshold)
      << statistic << " of " << freedom;
}

TEST(PoolLaw, EveryStepIsThatOfItsPool) {
  expect_law(TwoByTwo{}, false);
}

TEST(PoolLaw, EveryStepIsThatOfItsPoolWithoutReplacement) {
  expect_law(TwoDistinct{}, true);
}

}  // namespace
}  // namespace sluice::test
