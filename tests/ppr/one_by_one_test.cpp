// Linear decomposition as published: the scores of joint diffusion, in the memory of one ball.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

const std::vector<std::vector<std::int64_t>> kStages{{3, 3}, {2, 2, 2}, {1, 5}};

ppr::Options one_by_one(ppr::Options options) {
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  return options;
}

TEST(OneByOne, IsExactIfEveryVertexGoesOn) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (const ppr::Options& rules : ppr_rules()) {
      ppr::Options options = one_by_one(rules);
      options.expand = 1;
      auto queries = queries_of(graph);
      queries.erase(queries.begin(), queries.end() - (graph.vertices() > 1000 ? 1 : 2));
      for (const auto& seeds : queries) {
        for (const auto& stages : kStages) {
          options.stages = stages;

          const SolvedQuery solved = solve(graph, options, seeds);

          EXPECT_LT(largest_difference(solved.scores, dense_ppr(graph, options, seeds)), 1e-12);
          // The error is a sum over all vertices and balls.
          EXPECT_LT(solved.figures.error, 1e-11);
        }
      }
    }
  }
}

TEST(OneByOne, IsTogetherForSomeOfThem) {
  // With random weights, no two residuals are equal.
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform);
  ppr::Options together;
  together.method = ppr::Method::staged;
  together.weighted = true;
  for (const auto unexpanded : {ppr::Unexpanded::residual, ppr::Unexpanded::share}) {
    together.unexpanded = unexpanded;
    for (const auto& stages : kStages) {
      together.stages = stages;
      for (const auto& seeds : queries_of(graph)) {
        const SolvedQuery expected = solve(graph, together, seeds);
        const SolvedQuery solved = solve(graph, one_by_one(together), seeds);
        for (std::size_t v = 0; v < solved.scores.size(); ++v)
          EXPECT_NEAR(solved.scores[v], expected.scores[v], 1e-13);
        EXPECT_NEAR(solved.figures.error, expected.figures.error, 1e-13);
      }
    }
  }
}

TEST(OneByOne, KeepsATableOfFixedSize) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  options.expand = 0.01;
  options.top = 20;
  const SolvedQuery all = solve(graph, options, {{17, 1}});
  options.table = 10;

  const SolvedQuery solved = solve(graph, options, {{17, 1}});

  EXPECT_LE(solved.figures.reached, 200u);
  EXPECT_GT(all.figures.reached, 1000u);
  // Dropped scores count as missed: no score is too large, and the error bounds the difference.
  for (std::size_t v = 0; v < solved.scores.size(); ++v) EXPECT_LE(solved.scores[v], all.scores[v]);
  const auto truth = dense_ppr(graph, options, {{17, 1}});
  EXPECT_LE(largest_difference(solved.scores, truth), solved.figures.error);
}

/// The number of the `top` best entries that two vectors have in common.
std::size_t common_best(const std::vector<double>& scores, const std::vector<double>& truth,
                        std::size_t top) {
  const auto best = [top](const std::vector<double>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a] > all[b]; });
    order.resize(top);
    std::sort(order.begin(), order.end());
    return order;
  };
  std::vector<std::size_t> both;
  std::ranges::set_intersection(best(scores), best(truth), std::back_inserter(both));
  return both.size();
}

TEST(OneByOne, NeverHasMoreThanATableOfAHardLimit) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  ppr::Options options = one_by_one({});
  options.expand = 0.01;
  options.top = 20;
  options.unexpanded = ppr::Unexpanded::share;
  const SolvedQuery all = solve(graph, options, {{17, 1}});
  options.table = 10;
  const SolvedQuery soft = solve(graph, options, {{17, 1}});
  EXPECT_GT(soft.figures.table_entries, 200u);  // a ball is added before half of it is dropped

  options.table_limit = ppr::TableLimit::hard;
  std::uint64_t bytes = all.figures.peak_bytes;
  for (const std::uint32_t table : {100u, 10u, 1u}) {
    options.table = table;
    for (const auto& stages : kStages) {
      options.stages = stages;
      EXPECT_LE(solve(graph, options, {{17, 1}}).figures.table_entries, 20 * table);
    }
    options.stages = {3, 3};
    const SolvedQuery hard = solve(graph, options, {{17, 1}});
    EXPECT_EQ(hard.figures.table_entries, std::min<std::uint64_t>(20 * table, all.figures.table_entries));
    EXPECT_LT(hard.figures.peak_bytes, bytes);
    bytes = hard.figures.peak_bytes;
    EXPECT_GE(common_best(hard.scores, all.scores, 20), table == 1 ? 10u : 20u);
    // Dropped scores count as missed: no score is too large, and the error bounds the difference.
    const auto truth = dense_ppr(graph, options, {{17, 1}});
    EXPECT_LE(largest_difference(hard.scores, truth), hard.figures.error);
    for (std::size_t v = 0; v < truth.size(); ++v) EXPECT_LE(hard.scores[v], truth[v]);
  }
}

TEST(OneByOne, LosesNothingInATableForAll) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    ppr::Options options = one_by_one({});
    options.stages = {2, 1, 1};
    const auto query = queries_of(graph).back();
    const SolvedQuery all = solve(graph, options, query);
    options.table_limit = ppr::TableLimit::hard;
    options.table = 1, options.top = static_cast<std::uint32_t>(graph.vertices());
    const SolvedQuery hard = solve(graph, options, query);
    EXPECT_EQ(hard.scores, all.scores);
    EXPECT_EQ(hard.figures.error, all.figures.error);
  }
}

}  // namespace
}  // namespace sluice::test
