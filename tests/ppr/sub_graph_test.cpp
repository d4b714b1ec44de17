// Balls in sub-graphs, as in MeLoPPR, give the lists, scores and figures of balls in the graph's lists, bit
// for bit, in any memory.
#include "engine/ppr/methods/sub_graph.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "ppr/group_support.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

const Device kHost({DeviceChoice::host, 1, 0});

std::uint64_t largest_sub_graph(const Ran& ran) {
  std::uint64_t bytes = 0;
  for (const ppr::QueryFigures& figures : ran.rows.figures) bytes = std::max(bytes, figures.sub_graph_bytes);
  return bytes;
}

/// Runs queries with and without sub-graphs, and compares.
Ran expect_same_in_sub_graphs(const Graph& graph, const Starts& starts, ppr::Options options) {
  options.sub_graphs = false;
  const Ran expected = ran(kHost, graph, starts, options);
  options.sub_graphs = true;
  Ran found = ran(kHost, graph, starts, options);
  expect_same(found, expected);
  expect_same_figures(found.rows, expected.rows);
  EXPECT_EQ(found.stats.peak_table_entries, expected.stats.peak_table_entries);
  EXPECT_EQ(largest_sub_graph(expected), 0u);
  return found;
}

TEST(SubGraph, HasTheScoresOfBallsInTheGraph) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : one_by_one_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        const Ran found = expect_same_in_sub_graphs(graph, starts_of(queries_of(graph)), options);
        // Mass that returns to all vertices leaves every ball.
        if (options.dangling == ppr::Dangling::seed) {
          EXPECT_GT(largest_sub_graph(found), 0u);
        }
      }
    }
  }
}

TEST(SubGraph, HasThemForManySeedsAndLongStages) {
  // In a directed graph, mass returns to the seeds in every step.
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::uniform);
  const Starts starts =
      starts_of({{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, {{7, 1}}, {{lone_vertex(graph), 1}, {9, 1e-12}}});
  ppr::Options options = one_by_one_methods().front();
  for (const std::vector<std::int64_t>& stages :
       {std::vector<std::int64_t>{1}, {6}, {1, 5}, {5, 1}, {12, 12}}) {
    options.stages = stages;
    for (const std::uint32_t units : {0u, 5000u}) {
      options.score_units = units;  // few units: shares of long lists are 0
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        expect_same_in_sub_graphs(graph, starts, options);
      }
    }
  }
}

TEST(SubGraph, IsTheBallWithoutListsOfItsOutermostVertices) {
  // Two steps from 0 along a path, whose second vertex has a self-loop and a parallel edge.
  const Graph graph =
      stat::make_graph(6, {{0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, true);
  ppr::Options options = one_by_one_methods().front();
  options.stages = {2}, options.sub_graphs = true;

  const Ran even = ran(kHost, graph, starts_of({{{0, 1}}}), options);
  options.weighted = true;
  const Ran by_weight = ran(kHost, graph, starts_of({{{0, 1}}}), options);

  using View = ppr::SubGraphView<ppr::Mass>;
  EXPECT_EQ(largest_sub_graph(even), View::bytes({3, 2, 5, false}));
  EXPECT_EQ(largest_sub_graph(by_weight), View::bytes({3, 2, 5, true}));
  EXPECT_EQ(View::bytes({3, 2, 5, false}), 3 * 8 + 2 * (16 + 1) + 3 * 4 + 5 * 4u);
  EXPECT_EQ(View::bytes({3, 2, 5, true}), View::bytes({3, 2, 5, false}) + 2 * 8 + 5 * 4);
  EXPECT_GT(even.rows.figures[0].extraction_seconds, 0);
}

TEST(SubGraph, IsThatOfBallsSideBySide) {
  const Graph graph = generated(io::GraphKind::rmat, 11, false, io::WeightRule::uniform);
  const Starts starts = starts_of({{{17, 1}}, {{3, 1}, {40, 2}}});
  for (ppr::Options options : one_by_one_methods()) {
    options.weighted = options.stages.size() == 3;
    const Ran expected = expect_same_in_sub_graphs(graph, starts, options);
    options.sub_graphs = true;
    for (const std::uint32_t balls : {3u, 16u}) {
      for (const unsigned threads : {1u, 3u}) {
        SCOPED_TRACE(testing::Message() << balls << " balls on " << threads << " threads");
        options.balls = balls;
        const Ran found = ran(Device({DeviceChoice::host, threads, 0}), graph, starts, options);
        expect_same(found, expected);
        EXPECT_EQ(largest_sub_graph(found), largest_sub_graph(expected));
      }
    }
  }
}

TEST(SubGraph, IsInTheMemoryOfItsQuery) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::uniform);
  ppr::Options options = one_by_one_methods().front();
  const Starts starts = starts_of({{{17, 1}}});
  const std::uint64_t without = ran(kHost, graph, starts, options).stats.peak_query_bytes;
  options.sub_graphs = true;
  for (const bool weighted : {false, true}) {
    options.weighted = weighted;
    const Ran found = ran(kHost, graph, starts, options);
    if (!weighted) {
      EXPECT_GE(found.stats.peak_query_bytes, without + largest_sub_graph(found));
    }
    EXPECT_GE(plan_ppr(kHost, graph, starts, options).largest_query_bytes, found.stats.peak_query_bytes);
  }
  const ppr::Seeds seeds = seeds_of(graph, {{17, 1}});
  const Device small({DeviceChoice::host, 1, without + (4u << 10)});
  const auto solver = ppr::QuerySolver::make(small, graph.out.view(), options);
  EXPECT_THROW(solve_with(*solver, seeds, 0), BudgetError);
}

TEST(SubGraph, NeedsAllLists) {
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::none);
  ppr::Options options = one_by_one_methods().front();
  options.sub_graphs = true;
  const PagingOptions parts{.partitions = 4, .slots = 2, .transport = Transport::copied};

  EXPECT_THROW(ran(kHost, graph, starts_of({{{1, 1}}}), options, parts), UsageError);

  options.one_by_one = false;  // then there are no sub-graphs
  EXPECT_NO_THROW(ran(kHost, graph, starts_of({{{1, 1}}}), options, parts));
}

// ---- a group of threads in a workspace of fixed size

ppr::WorkspaceShape shape_of(const Graph& graph, std::uint64_t reached, bool weighted) {
  const std::uint64_t n = graph.vertices();
  ppr::WorkspaceShape shape = ppr::WorkspaceShape::of(reached, n, n, 3);
  shape.sub_graphs = true, shape.weighted = weighted, shape.graph_edges = graph.edges();
  return shape.resized(reached, n);
}

TEST(GroupSubGraph, IsThatOfOneThreadToTheBit) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 2);
    for (ppr::Options options : one_by_one_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        Space hashing(shape_of(graph, 1u << 9, weighted)), ample(shape_of(graph, graph.vertices(), weighted));
        hashing.give_fast(1u << 12);
        for (const auto& of_query : queries) {
          const ppr::Seeds seeds = seeds_of(graph, of_query);
          options.sub_graphs = false;
          const Expected expected(graph, options, seeds);
          options.sub_graphs = true;
          const ppr::QueryRules extracting = rules.of(options);
          const Listed found = answer_alone<ppr::GroupOneByOne, true>(hashing, extracting, seeds);
          if (found.figures.abandoned == 0) expect_same(found, expected);
          expect_same(answer_alone<ppr::GroupOneByOne, true>(ample, extracting, seeds), expected);
        }
        EXPECT_TRUE(hashing.is_clear() && ample.is_clear());
      }
    }
  }
}

/// Threads meet at barriers in every round of every ball, so there are few balls. The graph has all kinds of
/// lists.
Graph few_vertices() {
  return stat::make_graph(
      9, {{0, 1}, {1, 2, 3}, {1, 2}, {2, 2}, {2, 3, 2}, {3, 0}, {3, 4}, {4, 5, 0}, {4, 6}, {6, 7}, {8, 0}},
      true);
}
std::vector<ppr::Options> few_methods() {
  std::vector<ppr::Options> all = one_by_one_methods();
  all = {all[0], all[2], all[6], all[8]};
  for (ppr::Options& options : all) options.stages = {2, 3}, options.weighted = options.sub_graphs = true;
  return all;
}

TEST(GroupSubGraph, IsTheSameInFastMemoryAndWhereItDoesNotFit) {
  const Graph graph = few_vertices();
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, {{0, 1}, {8, 2}});
  for (ppr::Options options : few_methods()) {
    options.score_units = 0;
    const Expected expected(graph, options, seeds);
    const std::uint64_t largest = expected.figures.sub_graph_bytes;
    ASSERT_GT(largest, 0u);
    for (const std::uint64_t fast : {std::uint64_t{0}, largest / 2, (largest + 7) / 8 * 8}) {
      Space all(shape_of(graph, graph.vertices(), true));
      all.give_fast(fast);
      const Listed found = answer_together<ppr::GroupOneByOne, true>(all, rules.of(options), seeds);
      expect_same(found, expected);
      EXPECT_EQ(found.figures.sub_graph_bytes, largest);
      EXPECT_TRUE(all.is_clear());
      if (fast != largest / 2) {
        EXPECT_EQ(all.used_fast(), fast != 0);
      }
    }
  }
}

TEST(GroupSubGraph, IsTheSameInMassesOf32Bits) {
  const Graph graph = few_vertices();
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, {{0, 1}, {8, 2}});
  for (ppr::Options options : few_methods()) {
    options.score_units = 10007;
    const Expected expected(graph, options, seeds);
    CoarseSpace all(shape_of(graph, graph.vertices(), true));
    all.give_fast((expected.figures.sub_graph_bytes + 7) / 8 * 8);
    const Listed found = answer_together<ppr::GroupOneByOne, true>(all, rules.of(options), seeds);
    expect_same(found, expected);
    EXPECT_EQ(found.figures.sub_graph_bytes, expected.figures.sub_graph_bytes);
    EXPECT_TRUE(all.is_clear() && all.used_fast());
  }
}

TEST(GroupSubGraph, GivesUpWhatItsWorkspaceDoesNotTake) {
  // A hub has far more edges than a small workspace holds, to few vertices.
  std::vector<stat::Edge> edges;
  for (int parallel = 0; parallel < 300; ++parallel) edges.push_back({0, 1}), edges.push_back({1, 0});
  const Graph graph = stat::make_graph(64, std::move(edges), false);
  HostRules rules(graph);
  ppr::Options options = one_by_one_methods().front();
  const ppr::Seeds seeds = seeds_of(graph, {{0, 1}});
  options.sub_graphs = true;
  const Space small(shape_of(graph, 4, false)), all(shape_of(graph, 64, false));
  ASSERT_LT(small.view().edges, 600u);
  const auto is_given_up = [&](const Space& space, HostRules& of_graph, const ppr::Seeds& from) {
    const ppr::QueryRules extracting = of_graph.of(options);
    const Listed alone = answer_alone<ppr::GroupOneByOne, true>(space, extracting, from);
    const Listed together = answer_together<ppr::GroupOneByOne, true>(space, extracting, from);
    return alone.figures.abandoned != 0 && together.figures.abandoned != 0;
  };
  EXPECT_TRUE(is_given_up(small, rules, seeds));
  EXPECT_TRUE(small.is_clear());
  options.sub_graphs = false;
  const Expected expected(graph, options, seeds);
  options.sub_graphs = true;
  expect_same(answer_alone<ppr::GroupOneByOne, true>(all, rules.of(options), seeds), expected);
  // The ball has more vertices than the workspace holds.
  const Graph grid = generated(io::GraphKind::grid, 8, true, io::WeightRule::none);
  HostRules grid_rules(grid);
  const Space few(shape_of(grid, 8, false));
  EXPECT_TRUE(is_given_up(few, grid_rules, seeds_of(grid, {{100, 1}})));
  EXPECT_TRUE(few.is_clear());
}

}  // namespace
}  // namespace sluice::test
