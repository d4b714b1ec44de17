// Quality of lists: precision at k by its definition, computed by hand.
#include "engine/ppr/evaluate.hpp"

#include <gtest/gtest.h>

#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

/// A path 0 -> 1 -> ... -> 9.
Graph path() {
  std::vector<stat::Edge> edges;
  for (Vertex v = 0; v < 9; ++v) edges.push_back({v, v + 1});
  return stat::make_graph(10, edges, false);
}

TEST(PprEvaluation, IsOneForTheTruth) {
  const Graph graph = path();
  const Device device({DeviceChoice::host, 2, 0});
  ppr::Options options;
  options.top = 4;
  options.length = 3;
  KeptRows rows;
  const Starts starts;
  ppr::Evaluator evaluator(device, graph, starts, options, rows);
  run_ppr(device, graph, starts, options, evaluator);

  EXPECT_EQ(evaluator.queries(), 10u);
  EXPECT_EQ(evaluator.truncated().strict, 10);
  EXPECT_EQ(evaluator.truncated().of_scored, 10);
  EXPECT_EQ(rows.seeds.size(), 10u);
}

/// The precision of a list of four for the query from vertex 5 on the path.
class PprEvaluationOfFive : public testing::Test {
 protected:
  struct Found {
    ppr::Precision truncated, limit;
  };
  Found evaluate(const std::vector<Vertex>& list, const std::vector<double>& scores,
                 std::uint32_t length = 3) {
    ppr::Options options;
    options.top = 4;
    options.length = length;
    KeptRows rows;
    ppr::Evaluator evaluator(device_, graph_, starts_, options, rows);
    const std::vector<Vertex> seeds{5};
    const std::vector<ppr::QueryFigures> figures(1);
    evaluator.write({0, 1, 4, seeds, list, scores, figures});
    return {evaluator.truncated(), evaluator.limit()};
  }

  const Graph graph_ = path();
  const Device device_{{DeviceChoice::host, 1, 0}};
  const Starts starts_ = starts_of({{{5, 1}}});
};

TEST_F(PprEvaluationOfFive, CountsWhatListsHaveInCommon) {
  // The true list is 5 6 7 8. Among vertices without score, 0 and 1 are first.
  const Found found = evaluate({5, 8, kNoVertex, kNoVertex}, {0.5, 0.25, 0, 0});

  EXPECT_EQ(found.truncated.strict, 0.5);
  EXPECT_EQ(found.truncated.of_scored, 0.5);
  EXPECT_EQ(found.limit.strict, 0.5);
}

TEST_F(PprEvaluationOfFive, LeavesSmallScoresOutWhereItIsLenient) {
  const Found found = evaluate({5, 8, kNoVertex, kNoVertex}, {0.5, 1e-6, 0, 0});

  EXPECT_EQ(found.truncated.lenient, 0.25);
  EXPECT_EQ(found.truncated.of_scored, 0.5);
}

TEST_F(PprEvaluationOfFive, FillsShortListsById) {
  // The true list is 5 6, then 0 1.
  const Found found = evaluate({5, kNoVertex, kNoVertex, kNoVertex}, {1, 0, 0, 0}, 1);

  EXPECT_EQ(found.truncated.strict, 0.75);
  EXPECT_EQ(found.truncated.of_scored, 0.5);
}

TEST(PprEvaluation, TakesTheMemoryOfOneRunAtATime) {
  const Graph graph = generated(io::GraphKind::kronecker, 13, true, io::WeightRule::none);
  ppr::Options options;
  options.length = 6;
  options.last_instance = 3;
  const Starts starts;
  const auto peak = [&](bool evaluated) {
    const Device device({DeviceChoice::host, 1, 0});
    KeptRows rows;
    ppr::Evaluator evaluator(device, graph, starts, options, rows);
    run_ppr(device, graph, starts, options, evaluated ? static_cast<ppr::Sink&>(evaluator) : rows);
    EXPECT_EQ(evaluator.queries(), evaluated ? 3u : 0u);
    return device.memory().peak();
  };
  EXPECT_LT(peak(true), peak(false) * 3 / 2);
}

TEST(PprLatency, IsAQuantileOfTheQueries) {
  KeptRows rows;
  ppr::Latencies latencies(rows);
  std::vector<ppr::QueryFigures> figures(100);
  for (std::size_t i = 0; i < 100; ++i) figures[i].seconds = static_cast<double>(100 - i);
  const std::vector<Vertex> seeds(100), vertices(100);
  const std::vector<double> scores(100);

  latencies.write({0, 100, 1, seeds, vertices, scores, figures});

  EXPECT_EQ(latencies.quantile(0.5), 50);
  EXPECT_EQ(latencies.quantile(0.99), 99);
  EXPECT_EQ(latencies.quantile(1), 100);
  EXPECT_EQ(rows.seeds.size(), 100u);
}

}  // namespace
}  // namespace sluice::test
