// Many queries at once: their order, their lists, and settings that change neither.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

KeptRows rows_of(const Graph& graph, const Starts& starts, const ppr::Options& options, unsigned threads = 2,
                 std::uint64_t memory = 0) {
  const Device device({DeviceChoice::host, threads, memory});
  KeptRows rows;
  run_ppr(device, graph, starts, options, rows);
  return rows;
}

TEST(PprRun, GivesTheSameBitsForAnyThreadsBatchesAndShares) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform);
  ppr::Options options;
  options.top = 50;
  options.length = 5;
  options.weighted = true;
  const KeptRows alone = rows_of(graph, Starts{}, options, 1);

  EXPECT_EQ(alone.seeds.size(), 512u);
  EXPECT_TRUE(alone == rows_of(graph, Starts{}, options, 4));
  EXPECT_TRUE(alone == rows_of(graph, Starts{}, options, 2, 1 << 20));
  const Device device({DeviceChoice::host, 2, 0});
  KeptRows parts;
  for (const Instance first : {0, 100, 400}) {
    options.first_instance = first;
    options.last_instance = first == 0 ? 100 : first == 100 ? 400 : ~Instance{0};
    run_ppr(device, graph, Starts{}, options, parts);
  }
  EXPECT_TRUE(alone == parts);
}

TEST(PprRun, ListsTheLargestScoresInOrder) {
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::none);
  ppr::Options options;
  options.top = 20;
  options.length = 4;

  const KeptRows rows = rows_of(graph, Starts{}, options);

  for (Vertex query = 0; query < 256; ++query) {
    const auto scores = solve(graph, options, {{query, 1}}).scores;
    std::vector<Vertex> order(256);
    for (Vertex v = 0; v < 256; ++v) order[v] = v;
    std::stable_sort(order.begin(), order.end(), [&](Vertex a, Vertex b) { return scores[a] > scores[b]; });
    for (std::size_t i = 0; i < 20; ++i) {
      const double expected = scores[order[i]];
      EXPECT_EQ(rows.scores[query * 20 + i], expected);
      EXPECT_EQ(rows.vertices[query * 20 + i], expected > 0 ? order[i] : kNoVertex);
    }
  }
}

TEST(PprRun, EndsShortLists) {
  const Graph graph = stat::make_graph(5, {{0, 1}, {1, 0}}, false);

  ppr::Options options;
  options.top = 4;
  const KeptRows rows = rows_of(graph, starts_of({{{1, 1}}, {{4, 1}}}), options);

  EXPECT_EQ(rows.vertices,
            (std::vector<Vertex>{1, 0, kNoVertex, kNoVertex, 4, kNoVertex, kNoVertex, kNoVertex}));
  EXPECT_EQ(rows.scores[2], 0);
}

TEST(PprRun, RefusesWhatItCannotDo) {
  const Graph graph = stat::make_graph(5, {{0, 1}}, false);
  const Device device({DeviceChoice::host, 1, 0});
  KeptRows rows;
  const auto run = [&](const ppr::Options& options, const Starts& starts = {}) {
    run_ppr(device, graph, starts, options, rows);
  };
  ppr::Options plain, weighted, alpha, stages;
  weighted.weighted = true;
  alpha.alpha = 1;
  stages.method = ppr::Method::staged;
  stages.length = 5;

  EXPECT_THROW(run(weighted), UsageError);
  EXPECT_THROW(run(alpha), UsageError);
  EXPECT_THROW(run(stages), UsageError);
  EXPECT_THROW(run(plain, starts_of({{{5, 1}}})), InputError);
  const Graph empty = stat::make_graph(0, {}, false, false);
  Starts drawn;
  drawn.mode = Starts::Mode::random;
  EXPECT_THROW(rows_of(empty, drawn, plain), InputError);
  EXPECT_TRUE(rows.seeds.empty());
}

TEST(PprRun, StaysWithinTheBudgetOrSaysSo) {
  const Graph graph = generated(io::GraphKind::kronecker, 14, true, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2, 64 << 10});
  ppr::Options options;
  options.length = 6;
  KeptRows rows;

  EXPECT_THROW(run_ppr(device, graph, Starts{}, options, rows), BudgetError);
  EXPECT_LE(device.memory().peak(), 64u << 10);
  EXPECT_EQ(device.memory().used(), 0u);
}

TEST(PprRun, HasNothingToDoInAGraphWithoutVertices) {
  const Graph graph = stat::make_graph(0, {}, false);

  const ppr::Options options;
  EXPECT_TRUE(rows_of(graph, Starts{}, options).seeds.empty());
}

}  // namespace
}  // namespace sluice::test
