// MeLoPPR's identities: expanding all next-stage vertices is the exact diffusion. Expanding some is a
// diffusion in which the others keep their residual.
#include <gtest/gtest.h>

#include <numeric>

#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

const std::vector<std::vector<std::int64_t>> kStages{{3, 3}, {2, 2, 2}, {1, 5},
                                                     {5, 1}, {6},       {1, 1, 1, 1, 1, 1}};

TEST(StagedPpr, IsExactIfEveryVertexGoesOn) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : ppr_rules()) {
      const auto seeds = queries_of(graph);
      for (const auto& query : {seeds.front(), seeds.back()}) {
        options.method = ppr::Method::exact;
        options.length = 6;
        const auto exact = solve(graph, options, query);
        options.method = ppr::Method::staged;
        options.expand = 1;
        for (const auto& stages : kStages) {
          options.stages = stages;

          EXPECT_EQ(solve(graph, options, query).scores, exact.scores) << testing::PrintToString(stages);
        }
      }
    }
  }
}

/// The same selection on dense vectors.
std::vector<long double> dense_stages(const Graph& graph, const ppr::Options& options,
                                      const WeightedSeeds& seeds, long double& held) {
  DensePpr dense(graph, options, seeds);
  for (std::size_t stage = 0; stage < options.stages.size(); ++stage) {
    auto& mass = dense.mass();
    std::vector<Vertex> order(mass.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](Vertex v) { return mass[v] == 0; });
    std::stable_sort(order.begin(), order.end(), [&](Vertex a, Vertex b) { return mass[a] > mass[b]; });
    const auto taken =
        static_cast<std::size_t>(std::ceil(options.expand * static_cast<double>(order.size())));
    for (std::size_t i = stage == 0 ? order.size() : taken; i < order.size(); ++i) {
      const bool all = options.unexpanded == ppr::Unexpanded::residual;
      dense.partial()[order[i]] += (all ? 1 : 1 - static_cast<long double>(options.alpha)) * mass[order[i]];
      held += all ? mass[order[i]] : 0;
      mass[order[i]] = 0;
    }
    for (std::int64_t step = 0; step < options.stages[stage]; ++step) dense.step();
  }
  return dense.scores();
}

TEST(StagedPpr, ExpandsTheLargestResiduals) {
  // With random weights, no two residuals are equal.
  const auto uniform = io::WeightRule::uniform;
  for (const auto kind : {io::GraphKind::rmat, io::GraphKind::kronecker, io::GraphKind::grid}) {
    const Graph graph = generated(kind, 10, kind != io::GraphKind::rmat, uniform);
    ppr::Options options;
    options.method = ppr::Method::staged;
    options.weighted = true;
    for (const auto& stages : kStages) {
      options.stages = stages;
      for (const double expand : {0.0, 0.02, 0.3}) {
        options.expand = expand;
        options.unexpanded = expand == 0.3 ? ppr::Unexpanded::share : ppr::Unexpanded::residual;
        for (const auto& seeds : queries_of(graph)) {
          long double held = 0;
          const auto truth = dense_stages(graph, options, seeds, held);

          const SolvedQuery solved = solve(graph, options, seeds);

          EXPECT_LT(largest_difference(solved.scores, truth), 1e-12) << expand;
          EXPECT_NEAR(solved.figures.held, static_cast<double>(held), 1e-12);
          EXPECT_LE(largest_difference(solved.scores, dense_ppr(graph, options, seeds)),
                    solved.figures.error);
        }
      }
    }
  }
}

TEST(StagedPpr, ExpandsWhatReachesTheThreshold) {
  // Vertex 0 has edges to 1..4, two of them to 1; each of these has an edge to a leaf of its own.
  const Graph graph =
      stat::make_graph(9, {{0, 1}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 8}}, false);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.stages = {1, 1};
  options.residual_threshold = 0.3;

  const auto scores = solve(graph, options, {{0, 1}}).scores;

  EXPECT_GT(scores[5], 0.28);
  for (const Vertex leaf : {6, 7, 8}) EXPECT_EQ(scores[leaf], 0);
  EXPECT_NEAR(scores[2], 0.85 / 5, 1e-15);
}

TEST(StagedPpr, PrefersSmallerIdsAmongEqualResiduals) {
  const Graph graph =
      stat::make_graph(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 8}}, false);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.stages = {1, 1};
  options.expand = 0.5;

  const auto scores = solve(graph, options, {{0, 1}}).scores;

  EXPECT_GT(scores[5], 0);
  EXPECT_GT(scores[6], 0);
  EXPECT_EQ(scores[7] + scores[8], 0);
}

}  // namespace
}  // namespace sluice::test
