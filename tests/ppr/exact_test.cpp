// The diffusion compared with a dense oracle, on hard graphs.
#include <gtest/gtest.h>

#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

TEST(PprMass, IsDividedByReciprocals) {
  std::vector<std::uint64_t> edges{
      1, 2, 3, 7, 10, 641, 65537, (1ull << 32) - 1, 1ull << 32, (1ull << 40) + 1};
  std::vector<ppr::Mass> masses{0, 1, 2, 3, ppr::kWholeMass - 1, ppr::kWholeMass, ~ppr::Mass{0}};
  for (const std::uint64_t divisor : edges) {
    for (std::uint64_t times : {1ull, 2ull, 1000ull, 1ull << 22})  // where the quotient changes
      masses.insert(masses.end(), {times * divisor - 1, times * divisor, times * divisor + 1});
  }
  for (std::uint64_t i = 1; i < 1000; ++i) {
    masses.push_back(i * 0x9e3779b97f4a7c15u);
    edges.push_back((i * 0xd1342543de82ef95u >> (i % 50)) | 1);
  }
  for (const std::uint64_t divisor : edges) {
    for (const ppr::Mass mass : masses)
      ASSERT_EQ(ppr::divided(mass, divisor, ppr::reciprocal_of(divisor)), mass / divisor)
          << mass << " " << divisor;
  }
}

TEST(ExactPpr, StatesTheErrorOfIntegersOf32Bits) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : ppr_rules()) {
      options.length = 6;
      for (const auto& seeds : queries_of(graph)) {
        const auto truth = dense_ppr(graph, options, seeds);
        double before = 1;
        for (const std::uint32_t units : {1000u, 1u << 20, ~0u}) {
          options.score_units = units;
          const SolvedQuery solved = solve(graph, options, seeds);
          EXPECT_LE(largest_difference(solved.scores, truth), solved.figures.error);
          EXPECT_LE(solved.figures.error, before + 1e-12);
          before = solved.figures.error;
          for (const double score : solved.scores) {
            const double own = score * units;
            EXPECT_NEAR(own, std::round(own), 1e-5);
          }
        }
      }
    }
  }
}

TEST(ExactPpr, IsTheOracleAtEveryLength) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : ppr_rules()) {
      for (const std::uint32_t length : {1u, 2u, 7u}) {
        options.length = length;
        for (const auto& seeds : queries_of(graph)) {
          const SolvedQuery solved = solve(graph, options, seeds);

          EXPECT_LT(largest_difference(solved.scores, dense_ppr(graph, options, seeds)), 1e-12);
          EXPECT_LT(solved.figures.error, 1e-12);
        }
      }
    }
  }
}

TEST(ExactPpr, ReachesTheLimitToTheTolerance) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : ppr_rules()) {
      options.tolerance = 1e-9;
      const auto seeds = queries_of(graph).back();
      const SolvedQuery solved = solve(graph, options, seeds);
      const auto truth = dense_ppr(graph, options, seeds);

      EXPECT_LE(solved.figures.error, 1e-9);
      EXPECT_LE(largest_difference(solved.scores, truth), solved.figures.error + 1e-15);
      // The error is exact, not only a bound: it is the sum that scores miss, and no score is too large.
      long double missed = 0;
      for (std::size_t v = 0; v < truth.size(); ++v) {
        missed += truth[v] - solved.scores[v];
        EXPECT_LT(solved.scores[v], truth[v] + 1e-15);
      }
      EXPECT_NEAR(static_cast<double>(missed), solved.figures.error, 1e-14);
    }
  }
}

TEST(ExactPpr, NeverGoesOnWithoutAlpha) {
  const Graph graph = stat::make_graph(3, {{0, 1}, {1, 2}}, false);
  ppr::Options options;
  options.alpha = 0;

  const SolvedQuery solved = solve(graph, options, {{1, 1}});

  EXPECT_EQ(solved.scores, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(solved.figures.error, 0);
}

TEST(ExactPpr, TakesMemoryOfWhatItReaches) {
  const Graph ring = generated(io::GraphKind::ring, 20, false, io::WeightRule::none);
  ppr::Options options;
  options.length = 6;

  const SolvedQuery solved = solve(ring, options, {{17, 1}});

  EXPECT_EQ(solved.figures.reached, 7u);
  EXPECT_LT(solved.figures.peak_bytes, 4096u);
}

}  // namespace
}  // namespace sluice::test
