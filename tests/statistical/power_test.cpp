// The power of the checks: draws of one distribution must fail against another that differs by a percent or
// two.
#include <gtest/gtest.h>

#include "statistical/graphs.hpp"
#include "statistical/sample_checks.hpp"
#include "statistical/walk_checks.hpp"

namespace sluice::stat {
namespace {

class Power : public testing::Test {
 protected:
  void SetUp() override {
    if (draw_scale() < 1) GTEST_SKIP() << "few draws see little";
  }

  /// The zoo with one of the five biases {3,6,2,2,2} increased by one percent.
  static Graph other_zoo() {
    Graph graph = zoo();
    graph.out.weights[graph.out.offsets[kBiasList] + 1] *= 1.01f;
    return graph;
  }
};

Starts from_bias_list(std::uint64_t copies) {
  return repeat_seeds({{kBiasList}}, copies);
}

TEST_F(Power, SeesOnePercentInOneWeight) {
  const Graph other = other_zoo();
  Bench bench(zoo());
  bench.judge = &other;
  walks::Options walk;
  walk.kind = walks::Kind::biased;
  walk.length = 1;
  samples::Options sample;
  sample.bias = Bias::weight;
  sample.fanout = std::vector<std::int64_t>{2};

  EXPECT_FALSE(fits(check_walks(bench, repeat_starts(std::vector<Vertex>{kBiasList}, 1000000), walk)));
  EXPECT_FALSE(fits(check_samples(bench, from_bias_list(1200000), sample)));
  sample.replace = true;
  EXPECT_FALSE(fits(check_samples(bench, from_bias_list(1000000), sample)));
  sample.replace = false;
  sample.kind = samples::Kind::layer;
  sample.layer_sizes = std::vector<std::uint64_t>{2};
  EXPECT_FALSE(fits(check_samples(bench, from_bias_list(1200000), sample)));
}

/// True if the checks distinguish walks with the first options from the distribution of the second.
bool distinguished(Bench& bench, const Starts& starts, walks::Options options, const walks::Options& other) {
  return !fits(check_walks(bench, starts, options, key::state, &other));
}

TEST_F(Power, SeesAPercentOrTwoInWalkParameters) {
  Bench small(pocket()), large(triangles());
  const Starts few = repeat_starts(std::vector<Vertex>{0, 5}, 3000000);
  Starts all;
  all.rounds = 20000;
  for (const walks::Kind kind : {walks::Kind::jump, walks::Kind::restart}) {
    walks::Options options;
    options.kind = kind;
    options.length = 1;
    walks::Options other = options;
    other.probability *= 1.01;
    EXPECT_TRUE(distinguished(small, few, options, other));
  }
  walks::Options options;
  options.kind = walks::Kind::node2vec;
  options.length = 4;
  walks::Options other_p = options, other_q = options;
  other_p.p *= 1.01;
  other_q.q *= 1.02;
  EXPECT_TRUE(distinguished(large, all, options, other_p));
  EXPECT_TRUE(distinguished(large, all, options, other_q));
}

TEST_F(Power, SeesAPercentInTheBurning) {
  Bench bench(zoo());
  samples::Options options, other;
  options.kind = samples::Kind::forest_fire;
  options.depth = 1;
  other = options;
  other.probability *= 1.01;

  EXPECT_FALSE(fits(
      check_samples(bench, repeat_seeds({{kHub, kTen, kEqual}}, 200000), options, Given::nothing, &other)));
}

}  // namespace
}  // namespace sluice::stat
