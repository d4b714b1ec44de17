// The samplers of apps/examples draw from exactly the distributions that they describe.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/examples/importance_sample.hpp"
#include "apps/examples/non_backtracking_walk.hpp"
#include "core/printed.hpp"
#include "statistical/chi_square.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

using stat::kThreshold;

struct Walks : WalkSink {
  void write(const WalkBatch& batch) override {
    const std::size_t row = std::size_t{batch.length} + 1;
    for (std::size_t i = 0; i < batch.count; ++i) {
      rows.emplace_back(batch.walks.begin() + i * row, batch.walks.begin() + (i + 1) * row);
    }
  }
  std::vector<std::vector<Vertex>> rows;
};

struct Samples : SampleSink {
  struct One {
    std::vector<Edge> edges;
    std::vector<std::int32_t> depths;
  };
  void write(const SampleBatch& batch) override {
    std::size_t at = 0;
    for (const std::uint64_t count : batch.edge_counts) {
      One one;
      for (std::uint64_t j = 0; j < count; ++j, ++at) {
        one.edges.push_back({batch.source[at], batch.target[at], batch.edge[at]});
        one.depths.push_back(batch.depth[at]);
      }
      all.push_back(std::move(one));
    }
  }
  std::vector<One> all;
};

/// Verdicts of many states, and one of all together.
struct Verdict {
  double statistic = 0, freedom = 0;

  void add(const std::vector<std::uint64_t>& seen, const std::vector<double>& probability) {
    const stat::Fit fit = stat::pearson(seen, probability);
    EXPECT_EQ(fit.impossible, 0u);
    EXPECT_GT(fit.p, kThreshold);
    statistic += fit.statistic, freedom += fit.freedom;
  }
  void expect_fit() const {
    EXPECT_GT(freedom, 0);
    EXPECT_GT(stat::chi_square_tails(statistic, freedom).upper, kThreshold);
  }
};

class NonBacktracking : public testing::TestWithParam<Select> {};

TEST_P(NonBacktracking, IsUniformOverAllButWhereItCameFrom) {
  const Graph graph = stat::triangles();
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  Starts starts;
  starts.rounds = 1000;
  walks::Options options;
  options.length = 20, options.select = GetParam(), options.seed = 5;
  Walks walks;

  walks::run_walk(resident, starts, NonBacktrackingWalk{}, options, &walks);

  std::map<std::pair<Vertex, Vertex>, std::map<Vertex, std::uint64_t>> next;  // (previous, current) -> counts
  for (const auto& walk : walks.rows) {
    for (std::size_t i = 0; i + 1 < walk.size() && walk[i] != kNoVertex; ++i) {
      ++next[{i == 0 ? kNoVertex : walk[i - 1], walk[i]}][walk[i + 1]];
    }
  }
  Verdict verdict;
  for (const auto& [state, counts] : next) {
    const auto [previous, current] = state;
    std::map<Vertex, double> law;
    double total = 0;
    for (EdgeIndex e = graph.out.offsets[current]; e < graph.out.offsets[current + 1]; ++e) {
      if (graph.out.targets[e] != previous) ++law[graph.out.targets[e]], ++total;
    }
    if (law.empty()) law[kNoVertex] = total = 1;  // the walk ends
    for (const auto& [to, count] : counts) law.try_emplace(to, 0);
    std::vector<std::uint64_t> seen;
    std::vector<double> probability;
    for (const auto& [to, share] : law) {
      seen.push_back(counts.contains(to) ? counts.at(to) : 0);
      probability.push_back(share / total);
    }
    verdict.add(seen, probability);
  }
  verdict.expect_fit();
  EXPECT_TRUE(next.contains({9, 10})) << "no walk came to the end of the pendant";
}

INSTANTIATE_TEST_SUITE_P(Techniques, NonBacktracking, testing::Values(Select::automatic, Select::its));

/// The biases that importance_sample.hpp describes, computed from the weights.
std::vector<long double> biases_of(const Graph& graph, Vertex v) {
  float largest = 0;
  const EdgeIndex begin = graph.out.offsets[v], end = graph.out.offsets[v + 1];
  for (EdgeIndex e = begin; e < end; ++e) largest = std::max(largest, graph.out.weights[e]);
  std::vector<long double> biases;
  for (EdgeIndex e = begin; e < end; ++e) {
    const long double weight = graph.out.weights[e];
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    const long double whole = std::max(1.0L, std::rint(std::ldexp(weight, 31 - exponent)));
    const Vertex to = graph.out.targets[e];
    const auto degree = static_cast<long double>(graph.out.offsets[to + 1] - graph.out.offsets[to]);
    biases.push_back(weight > 0 ? std::ceil(whole / 65536) * (1 + degree) : 0);
  }
  return biases;
}

/// Adds the probability of every set of `left` more successive draws to `law`.
void enumerate(const std::vector<long double>& biases, std::set<std::size_t> drawn, long double probability,
               std::size_t left, std::map<std::set<std::size_t>, double>& law) {
  if (left == 0) {
    law[drawn] += static_cast<double>(probability);
    return;
  }
  long double rest = 0;
  for (std::size_t i = 0; i < biases.size(); ++i) rest += drawn.contains(i) ? 0 : biases[i];
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (drawn.contains(i) || biases[i] == 0) continue;
    auto more = drawn;
    more.insert(i);
    enumerate(biases, more, probability * biases[i] / rest, left - 1, law);
  }
}

class Importance : public testing::TestWithParam<Select> {};

TEST_P(Importance, DrawsSetsByWeightTimesDegree) {
  const Graph graph = stat::zoo();
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  const std::vector<Vertex> seeds{stat::kTen, stat::kSixOrders, stat::kSomeZero, stat::kBiasList,
                                  stat::kAllZero};
  Starts starts;
  starts.mode = Starts::Mode::listed;
  for (int i = 0; i < 30000; ++i) starts.vertices.insert(starts.vertices.end(), seeds.begin(), seeds.end());
  samples::Options options;
  options.select = GetParam(), options.seed = 11;
  Samples samples;

  samples::run_sample(resident, starts, ImportanceSample{.depths = 1}, options, &samples);

  Verdict verdict;
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    const auto biases = biases_of(graph, seeds[s]);
    const auto positive = std::count_if(biases.begin(), biases.end(), [](long double b) { return b > 0; });
    std::map<std::set<std::size_t>, double> law;
    enumerate(biases, {}, 1, static_cast<std::size_t>(std::sqrt(positive)), law);
    std::map<std::set<std::size_t>, std::uint64_t> counts;
    for (std::size_t i = s; i < samples.all.size(); i += seeds.size()) {
      std::set<std::size_t> drawn;
      for (const Edge& edge : samples.all[i].edges) drawn.insert(edge.position - graph.out.offsets[seeds[s]]);
      ++counts[drawn];
    }
    std::vector<std::uint64_t> seen;
    std::vector<double> probability;
    for (const auto& [set, count] : counts) law.try_emplace(set, 0);
    for (const auto& [set, p] : law) seen.push_back(counts[set]), probability.push_back(p);
    SCOPED_TRACE("seed " + std::to_string(seeds[s]));
    verdict.add(seen, probability);
  }
  verdict.expect_fit();
}

TEST_P(Importance, ShrinksWithDepthAndStopsAtHubs) {
  const Graph graph = stat::zoo();
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  const ImportanceSample sampler{.depths = 3, .width = 4, .hub_degree = 9};
  samples::Options options;
  options.select = GetParam();
  Samples samples;
  const auto degree = [&](Vertex v) { return graph.out.offsets[v + 1] - graph.out.offsets[v]; };

  samples::run_sample(resident, Starts{}, sampler, options, &samples);

  std::uint64_t hubs_met = 0;
  for (Vertex seed = 0; seed < graph.vertices(); ++seed) {
    std::map<Vertex, std::uint64_t> drawn;  // edges that each expanded vertex selected
    std::map<Vertex, int> expanded{{seed, 1}};
    const auto& one = samples.all[seed];
    for (std::size_t i = 0; i < one.edges.size(); ++i) {
      const auto& [source, target, position] = one.edges[i];
      ASSERT_TRUE(expanded.contains(source) && expanded[source] == one.depths[i]) << seed;
      ASSERT_EQ(graph.out.targets[position], target);
      ++drawn[source];
      hubs_met += degree(target) > 9;
      if (degree(target) <= 9) expanded.try_emplace(target, one.depths[i] + 1);
    }
    for (const auto& [v, depth] : expanded) {
      const auto biases = biases_of(graph, v);
      const auto positive = std::count_if(biases.begin(), biases.end(), [](long double b) { return b > 0; });
      const auto root = static_cast<std::uint64_t>(std::sqrt(positive));
      if (depth > 3) continue;
      ASSERT_EQ(drawn[v], std::min<std::uint64_t>(root, 4 >> (depth - 1))) << v;
    }
  }
  EXPECT_GT(hubs_met, 0u);
}

INSTANTIATE_TEST_SUITE_P(Techniques, Importance,
                         testing::Values(Select::automatic, Select::repeated, Select::updated));

}  // namespace
}  // namespace sluice::test
