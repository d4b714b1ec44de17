// The oracles compared with values computed by hand, with each other, and with an independent simulation.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "statistical/graphs.hpp"
#include "statistical/oracle_samples.hpp"
#include "statistical/oracle_walks.hpp"
#include "statistical/report.hpp"

namespace sluice::stat {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(OracleBias, QuantisesBesideTheLargestOfTheList) {
  EXPECT_EQ(quantised(1, 1), 2147483648.0);
  EXPECT_EQ(quantised(3, 3), 3221225472.0);
  EXPECT_EQ(quantised(0.5, 3), 536870912.0);
  EXPECT_EQ(quantised(1e-12, 1), 1);
  EXPECT_EQ(quantised(0, 1), 0);
  EXPECT_EQ(quantised(2.5 / 2147483648.0, 1), 2);  // ties go to even
  EXPECT_EQ(quantised(3.5 / 2147483648.0, 1), 4);
  EXPECT_EQ(quantised(1e-40f, 1e-40f), std::ldexp(double{1e-40f}, 31 - std::ilogb(double{1e-40f})));
}

TEST(OracleWalks, EveryRowIsADistribution) {
  for (const bool weighted : {true, false}) {
    const Graph graph = zoo(weighted);
    const CsrView view = graph.out.view();
    for (Vertex v = 0; v < view.vertices; ++v) {
      EXPECT_NEAR(sum_of(uniform_row(view, v)), 1, 1e-12);
      EXPECT_NEAR(sum_of(biased_row(view, v, Bias::weight)), 1, 1e-12);
      EXPECT_NEAR(sum_of(biased_row(view, v, Bias::degree)), 1, 1e-12);
      EXPECT_NEAR(sum_of(metropolis_hastings_row(view, v)), 1, 1e-12);
      EXPECT_NEAR(sum_of(jump_row(view, v, 0.15)), 1, 1e-12);
      EXPECT_NEAR(sum_of(restart_row(view, v, 4, 0.15)), 1, 1e-12);
      for (const Vertex u : neighbours(view, v))
        EXPECT_NEAR(sum_of(node2vec_row(view, v, u, 0.25, 4)), 1, 1e-12);
    }
  }
}

TEST(OracleWalks, MatchesValuesWorkedOutByHand) {
  const Graph graph = make_graph(4, {{0, 1, 1}, {0, 2, 2}, {0, 3, 1}, {1, 0, 1}, {1, 2, 3}, {2, 0, 1}}, true);
  const CsrView view = graph.out.view();

  EXPECT_EQ(biased_row(view, 0, Bias::weight), (Row{0, 0.25, 0.5, 0.25, 0}));
  EXPECT_EQ(biased_row(view, 1, Bias::degree), (Row{0.75, 0, 0.25, 0, 0}));
  EXPECT_EQ(uniform_row(view, 3), (Row{0, 0, 0, 0, 1}));
  // From 2 to 0: degrees 1 and 3, accepted with 1/3. From 1: 0 has degree 3 (2/3), 2 has degree 1 (always).
  EXPECT_EQ(metropolis_hastings_row(view, 2), (Row{1. / 3, 0, 1 - 1. / 3, 0, 0}));
  const Row from1 = metropolis_hastings_row(view, 1);
  EXPECT_NEAR(from1[0], 1. / 3, 1e-15);
  EXPECT_NEAR(from1[1], 1. / 6, 1e-15);
  EXPECT_NEAR(from1[2], 1. / 2, 1e-15);
  EXPECT_EQ(jump_row(view, 3, 0.2), (Row{0.25, 0.25, 0.25, 0.25, 0}));
  EXPECT_EQ(restart_row(view, 3, 2, 0.2), (Row{0, 0, 1, 0, 0}));
  EXPECT_NEAR(restart_row(view, 2, 1, 0.2)[0], 0.8, 1e-15);
  // After 0 -> 1, the edge back to 0 weighs 1/p = 2; the edge to 2, a neighbour of 0, weighs 3.
  EXPECT_NEAR(node2vec_row(view, 0, 1, 0.5, 4)[0], 0.4, 1e-15);
  // After 2 -> 0, vertices 1 and 3 are no neighbours of 2 (1/q), and 2 is the previous vertex (1/p).
  const Row from0 = node2vec_row(view, 2, 0, 0.5, 4);
  EXPECT_NEAR(from0[1], 0.25 / 4.5, 1e-15);
  EXPECT_NEAR(from0[2], 4 / 4.5, 1e-15);
}

TEST(OracleWalks, MetropolisHastingsKeepsUndirectedGraphsUniform) {
  const Graph graph = triangles();
  Row after(graph.vertices() + 1, 0.0);
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    const Row row = metropolis_hastings_row(graph.out.view(), v);
    for (std::size_t u = 0; u < row.size(); ++u) after[u] += row[u];
  }

  for (Vertex v = 0; v < graph.vertices(); ++v) EXPECT_NEAR(after[v], 1, 1e-12);
}

TEST(OracleSamples, SecondDrawIsProportionalToWhatIsLeft) {
  const std::vector<double> biases = {3, 6, 2, 2, 2};
  const auto sets = successive_sets(biases, 2);

  EXPECT_NEAR(sum_of(sets), 1, 1e-12);
  EXPECT_NEAR(sets[0b00011], 3. / 15 * 6 / 12 + 6. / 15 * 3 / 9, 1e-15);
  EXPECT_NEAR(sets[0b11000], 2 * (2. / 15 * 2 / 13), 1e-15);
  EXPECT_EQ(sets[0b00111], 0);
}

TEST(OracleSamples, ZeroBiasesAreNoCandidates) {
  const std::vector<double> biases = {0, 3, 0, 1};
  const auto two = successive_sets(biases, 5);

  EXPECT_NEAR(two[0b1010], 1, 1e-15);
  EXPECT_EQ(successive_sets(std::vector<double>{0, 0}, 3)[0], 1);
}

TEST(OracleSamples, ClocksAgreeWithEnumeration) {
  const std::vector<double> biases = {1, 1e6, 3e3, 0, 40, 40, 2e6, 7};
  for (const std::uint64_t wanted : {1u, 2u, 3u, 5u, 7u}) {
    const auto by_sets = inclusion_of(successive_sets(biases, wanted), biases.size());
    const auto by_clocks = successive_inclusion(biases, wanted);
    for (std::size_t i = 0; i < biases.size(); ++i)
      EXPECT_NEAR(by_clocks[i], by_sets[i], 1e-9) << wanted << " " << i;
  }
  const auto even = successive_inclusion(std::vector<double>(300, 2.0), 10);
  for (const double p : even) EXPECT_NEAR(p, 10. / 300, 1e-10);
}

TEST(OracleSamples, ClocksAgreeWithEnumerationForForestFires) {
  const std::vector<double> biases = {1, 1e6, 3e3, 0, 40, 40, 2e6, 7};
  for (const double success : {0.0, 0.3, 0.7, 0.95}) {
    const auto by_sets = inclusion_of(burned_sets(biases, success), biases.size());
    const auto by_clocks = burned_inclusion(biases, success);
    for (std::size_t i = 0; i < biases.size(); ++i)
      EXPECT_NEAR(by_clocks[i], by_sets[i], 1e-9) << success << " " << i;
  }
}

TEST(OracleSamples, BurnCountsAreGeometricAndCapped) {
  EXPECT_NEAR(burn_probability(0.7, 0, 4), 0.3, 1e-15);
  EXPECT_NEAR(burn_probability(0.7, 2, 4), 0.49 * 0.3, 1e-15);
  EXPECT_NEAR(burn_probability(0.7, 4, 4), std::pow(0.7, 4), 1e-15);
  EXPECT_EQ(burn_probability(0.7, 5, 4), 0);
  EXPECT_EQ(burn_probability(0.7, 0, 0), 1);
  double mean = 0;
  for (std::uint64_t k = 0; k < 400; ++k) mean += static_cast<double>(k) * burn_probability(0.7, k, 1000);
  EXPECT_NEAR(mean, 0.7 / 0.3, 1e-12);
  EXPECT_NEAR(sum_of(burned_sets(std::vector<double>{3, 6, 0, 2, 2}, 0.7)), 1, 1e-12);
}

TEST(OracleSamples, MultisetsOfIndependentDraws) {
  const std::vector<double> biases = {1, 3};
  const auto sets = independent_multisets(biases, 2);

  EXPECT_EQ(sets, (std::vector<double>{1. / 16, 6. / 16, 0, 9. / 16}));
}

// A sampler that follows the written definition with its own random numbers, and the same sampler with the
// published rescaling.
TEST(OracleSamples, ASimulationFitsAndThePublishedRescalingDoesNot) {
  const std::vector<double> biases = {3, 6, 2, 2, 2};
  std::mt19937_64 random(5);
  Tally right, published;
  const std::size_t state = right.add_state("two of five", successive_sets(biases, 2));
  published.add_state("two of five", successive_sets(biases, 2));
  const auto locate = [&](double r) {
    std::size_t i = 0;
    while (i + 1 < biases.size() && r >= biases[i]) r -= biases[i++];
    return i;
  };
  const auto uniform = [&](double below) { return std::uniform_real_distribution<double>(0, below)(random); };
  for (int n = 0; n < 200000; ++n) {
    const std::size_t first = locate(uniform(15));
    std::size_t second = first;
    while (second == first) second = locate(uniform(15));  // proportional to the remaining biases
    right.count(state, std::size_t{1} << first | std::size_t{1} << second);

    double r = uniform(15), low = 0;
    for (std::size_t i = 0; i < first; ++i) low += biases[i];
    const double high = low + biases[first], lambda = 15 / (15 - biases[first]);
    if (r >= low && r < high) {
      r /= lambda;
      if (r >= low) r += high - low;
    }
    second = locate(r);
    if (second != first) published.count(state, std::size_t{1} << first | std::size_t{1} << second);
  }

  EXPECT_TRUE(fits(right.report()));
  EXPECT_LT(published.report().worst(), kThreshold);
}

}  // namespace
}  // namespace sluice::stat
