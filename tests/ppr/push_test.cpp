// Forward push: scores miss alpha times the waiting residual, and never more than allowed.
#include <gtest/gtest.h>

#include "engine/random/streams.hpp"
#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

ppr::Options push_options() {
  ppr::Options options;
  options.method = ppr::Method::push;
  return options;
}

/// No score is too large, and the sum of all that they miss is `error`.
void expect_bound(const SolvedQuery& solved, const std::vector<long double>& truth) {
  long double missed = 0;
  for (std::size_t v = 0; v < truth.size(); ++v) {
    missed += truth[v] - solved.scores[v];
    EXPECT_LT(solved.scores[v], truth[v] + 1e-15);
  }
  EXPECT_NEAR(static_cast<double>(missed), solved.figures.error, 1e-13);
}

TEST(Push, ReachesTheToleranceOnHardGraphs) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : ppr_rules()) {
      options.method = ppr::Method::push;
      const auto seeds = queries_of(graph).back();
      const auto truth = dense_ppr(graph, options, seeds);
      for (const double tolerance : {0.3, 1e-3, 1e-10}) {
        options.tolerance = tolerance;

        const SolvedQuery solved = solve(graph, options, seeds);

        EXPECT_LE(solved.figures.error, tolerance);
        expect_bound(solved, truth);
      }
    }
  }
}

TEST(Push, KeepsItsBoundOnRandomQueries) {
  const auto none = io::WeightRule::none;
  const Graph graph = generated(io::GraphKind::rmat, 6, false, none);
  ppr::Options options = push_options();
  for (std::uint32_t query = 0; query < 1000; ++query) {
    const std::uint64_t word = draw_at(WalkDraws{7, 0, query}, Stream::start, 0);
    const WeightedSeeds seeds{{static_cast<Vertex>(word % 64), 1}, {static_cast<Vertex>(word >> 32) % 64, 2}};
    options.alpha = 0.5 + static_cast<double>(word % 1000) / 2500;
    options.residual_threshold = query % 2 == 0 ? 0 : 1e-4;
    options.tolerance = 1e-2;

    const SolvedQuery solved = solve(graph, options, seeds);

    expect_bound(solved, dense_ppr(graph, options, seeds));
    if (query % 2 == 0) {
      EXPECT_LE(solved.figures.error, 1e-2);
    } else {
      // The residual of a vertex is below the threshold for each of its out-edges, at least one.
      EXPECT_LE(solved.figures.error, 1e-4 * static_cast<double>(graph.edges() + graph.vertices()));
    }
  }
}

TEST(Push, StaysNearTheSeed) {
  const Graph ring = generated(io::GraphKind::ring, 20, false, io::WeightRule::none);
  ppr::Options options = push_options();
  options.residual_threshold = 0.5;

  // 0.85^4 = 0.52 is pushed on, 0.85^5 = 0.44 waits, and 0.15 of that counts as score.
  const SolvedQuery solved = solve(ring, options, {{5, 1}});

  EXPECT_EQ(solved.figures.reached, 6u);
  EXPECT_NEAR(solved.figures.error, std::pow(0.85, 6), 1e-15);
}

}  // namespace
}  // namespace sluice::test
