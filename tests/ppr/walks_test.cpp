// Scores by walks: the distribution of their ends, and the stated error.
#include <gtest/gtest.h>

#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

ppr::Options walk_options(std::uint32_t walks, std::uint32_t length) {
  ppr::Options options;
  options.method = ppr::Method::walks;
  options.walks = walks;
  options.length = length;
  return options;
}

/// Pearson's statistic over vertices with at least 20 expected walks; all others form one class.
double chi_square(const std::vector<double>& scores, const std::vector<long double>& truth, double walks,
                  int& freedom) {
  double statistic = 0, rest = 0, rest_expected = 0;
  freedom = -1;
  const auto add = [&](double seen, double expected) {
    statistic += (seen - expected) * (seen - expected) / expected;
    ++freedom;
  };
  for (std::size_t v = 0; v < truth.size(); ++v) {
    const double seen = scores[v] * walks, expected = static_cast<double>(truth[v]) * walks;
    if (expected >= 20) {
      add(seen, expected);
    } else {
      rest += seen;
      rest_expected += expected;
    }
  }
  if (rest_expected >= 5) add(rest, rest_expected);
  return statistic;
}

TEST(PprWalks, EndWhereTheScoresSay) {
  // Each comparison fails with a probability below 1e-6: six deviations above the mean, and 20 for the skew.
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (const ppr::Options& rules : ppr_rules()) {
      for (const std::uint32_t length : {0u, 3u}) {
        ppr::Options options = walk_options(20000, length);
        options.weighted = rules.weighted;
        options.dangling = rules.dangling;
        const auto seeds = queries_of(graph)[graph.vertices() > 1 ? 2 : 0];
        const SolvedQuery solved = solve(graph, options, seeds, 11);
        int freedom = 0;

        const double statistic =
            chi_square(solved.scores, dense_ppr(graph, options, seeds), options.walks, freedom);

        EXPECT_LT(statistic, freedom + 6 * std::sqrt(2.0 * std::max(freedom, 1)) + 20);
      }
    }
  }
}

TEST(PprWalks, BeginAtSeedsByWeight) {
  const Graph graph = stat::make_graph(4, {}, false);
  ppr::Options options = walk_options(100000, 0);
  options.alpha = 0;

  const auto scores = solve(graph, options, {{0, 1}, {3, 3}}).scores;

  EXPECT_NEAR(scores[0], 0.25, 6 * std::sqrt(0.25 * 0.75 / 1e5));
  EXPECT_EQ(scores[0] + scores[3], 1);
}

TEST(PprWalks, KeepTheirConfidenceOnRandomQueries) {
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::none);
  ppr::Options options = walk_options(400, 0);
  options.confidence = 0.9;
  std::vector<std::vector<long double>> truth;
  for (Vertex v = 0; v < 128; ++v) truth.push_back(dense_ppr(graph, options, {{v, 1}}));
  int outside = 0;
  for (Instance query = 0; query < 1000; ++query) {
    const auto start = static_cast<Vertex>(query % 128);
    const SolvedQuery solved = solve(graph, options, {{start, 1}}, query);
    outside += largest_difference(solved.scores, truth[start]) > solved.figures.error;
  }

  // At most a tenth, plus six deviations: 100 + 6 sqrt(90).
  EXPECT_LE(outside, 156);
}

TEST(PprWalks, StateAnErrorThatFallsWithTheirNumber) {
  EXPECT_NEAR(ppr::walk_error(10000, 0.99), 2 * std::sqrt(std::log(200) / 20000), 1e-15);
  EXPECT_NEAR(ppr::walk_error(40000, 0.99) / ppr::walk_error(10000, 0.99), 0.5, 1e-12);
}

TEST(PprWalks, DrawTheSameInAnyCompany) {
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::none);
  const Device device({DeviceChoice::host, 3, 0});
  ppr::Options options = walk_options(100, 0);
  options.top = 10;
  KeptRows all, one;
  run_ppr(device, graph, Starts{}, options, all);
  options.first_instance = 200;
  options.last_instance = 201;
  run_ppr(device, graph, Starts{}, options, one);

  EXPECT_TRUE(std::equal(one.scores.begin(), one.scores.end(), all.scores.begin() + 2000));
  EXPECT_TRUE(std::equal(one.vertices.begin(), one.vertices.end(), all.vertices.begin() + 2000));
}

}  // namespace
}  // namespace sluice::test
