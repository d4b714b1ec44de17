// A query by a group of threads gives the scores, list and figures of one thread, bit for bit, in a workspace
// of any size.
#include "engine/ppr/methods/group_query.hpp"

#include <gtest/gtest.h>

#include "ppr/group_support.hpp"

namespace sluice::test {
namespace {

TEST(GroupQuery, IsThatOfOneThreadToTheBit) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::WorkspaceShape::of(1u << 9, n, 0)), ample(ppr::WorkspaceShape::of(n, n, 0));
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 2);
    for (ppr::Options options : group_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        for (const auto& of_query : queries) {
          const ppr::Seeds seeds = seeds_of(graph, of_query);
          const Expected expected(graph, options, seeds);
          const bool fits = expected.figures.reached <= space.view().limit;
          expect_same(answer_alone(fits ? space : ample, rules.of(options), seeds), expected);
        }
      }
    }
    EXPECT_TRUE(space.is_clear() && ample.is_clear());
  }
}

TEST(GroupQuery, IsTheSameForThreadsThatMeetInOneTable) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space small(ppr::WorkspaceShape::of(32, 128, 0)), all(ppr::WorkspaceShape::of(128, 128, 0));
  for (const ppr::Options& options : short_methods()) {
    const Expected expected(graph, options, seeds);
    expect_same(answer_together(all, rules.of(options), seeds), expected);
    EXPECT_TRUE(all.is_clear());
  }
  EXPECT_NE(answer_together(small, rules.of(group_methods().front()), seeds).figures.abandoned, 0u);
  EXPECT_TRUE(small.is_clear());
}

TEST(GroupOneByOne, IsThatOfOneThreadToTheBit) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::WorkspaceShape::of(1u << 9, n, n, 3)), ample(ppr::WorkspaceShape::of(n, n, n, 3));
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 2);
    for (ppr::Options options : one_by_one_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        for (const auto& of_query : queries) {
          const ppr::Seeds seeds = seeds_of(graph, of_query);
          const Expected expected(graph, options, seeds);
          const Listed found = answer_alone<ppr::GroupOneByOne>(space, rules.of(options), seeds);
          if (found.figures.abandoned == 0) expect_same(found, expected);
          expect_same(answer_alone<ppr::GroupOneByOne>(ample, rules.of(options), seeds), expected);
        }
      }
    }
    EXPECT_TRUE(space.is_clear() && ample.is_clear());
  }
}

TEST(GroupOneByOne, IsTheSameForThreadsThatMeetInTwoTables) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space small(ppr::WorkspaceShape::of(32, 128, 128, 3)), all(ppr::WorkspaceShape::of(128, 128, 128, 3));
  for (ppr::Options options : one_by_one_methods()) {
    options.weighted = true;
    const Expected expected(graph, options, seeds);
    expect_same(answer_together<ppr::GroupOneByOne>(all, rules.of(options), seeds), expected);
    EXPECT_TRUE(all.is_clear());
  }
  EXPECT_NE(answer_together<ppr::GroupOneByOne>(small, rules.of(one_by_one_methods().front()), seeds)
                .figures.abandoned,
            0u);
  EXPECT_TRUE(small.is_clear());
}

TEST(GroupOneByOne, MakesATableThatHashesAnew) {
  const Graph graph = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
  HostRules rules(graph);
  ppr::Options options = one_by_one_methods().front();
  options.expand = 0.5;
  options.table = 4;
  const ppr::Seeds seeds = seeds_of(graph, {{2017, 1}});
  const Space space(ppr::WorkspaceShape::of(128, graph.vertices(), graph.vertices(), 3));
  ASSERT_NE(space.view().mask, 0u);
  const Expected expected(graph, options, seeds);
  const Listed found = answer_alone<ppr::GroupOneByOne>(space, rules.of(options), seeds);
  expect_same(found, expected);
  EXPECT_LE(found.figures.reached, 20u);
  options.table = 0;
  EXPECT_GT(Expected(graph, options, seeds).figures.reached, 40u);
}

TEST(GroupOneByOne, HasATableOfItsLimit) {
  const Graph graph = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
  HostRules rules(graph);
  ppr::Options options = one_by_one_methods()[6];
  options.expand = 0.5;
  const ppr::Seeds seeds = seeds_of(graph, {{2017, 1}});
  const std::uint64_t n = graph.vertices();
  const ppr::WorkspaceShape shape = ppr::WorkspaceShape::of(128, n, n, 2, 16);
  EXPECT_LT(shape.bytes(), ppr::WorkspaceShape::of(128, n, n, 2).bytes());
  const Space space(shape);
  ASSERT_NE(ppr::WorkspaceShape::second_of<ppr::Mass>(space.view()).mask, 0u);
  const Expected expected(graph, options, seeds);
  EXPECT_EQ(expected.figures.table_entries, 15u);
  for (int again = 0; again < 2; ++again) {
    const Listed found = answer_alone<ppr::GroupOneByOne>(space, rules.of(options), seeds);
    expect_same(found, expected);
    EXPECT_EQ(found.figures.table_entries, 15u);
    EXPECT_TRUE(space.is_clear());
  }
  const Space less(ppr::WorkspaceShape::of(8, n, n, 2, 16));
  EXPECT_NE(answer_alone<ppr::GroupOneByOne>(less, rules.of(options), seeds).figures.abandoned, 0u);
  EXPECT_TRUE(less.is_clear());
}

TEST(GroupQuery, ReachesEverythingInAWorkspaceForAll) {
  // If all lanes compete for the last slot, none of them may report a full workspace.
  const Graph graph = stat::make_graph(2, {{0, 1}, {0, 1}, {0, 1}, {1, 0}}, false);
  HostRules rules(graph);
  ppr::Options options;
  options.length = 1;
  options.top = 2;
  const ppr::Seeds seeds = seeds_of(graph, {{0, 1}});
  const Expected expected(graph, options, seeds);
  const Space all(ppr::WorkspaceShape::of(2, 2, 0));
  for (int repetition = 0; repetition < 20; ++repetition)
    expect_same(answer_together(all, rules.of(options), seeds), expected);
}

TEST(GroupQuery, SortsListsThatDoNotFitTheSharedMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  HostRules rules(graph);
  ppr::Options options;
  options.tolerance = 1e-4;
  for (const std::uint32_t top : {1u, 511u, 513u, 5000u}) {
    options.top = top;
    const Space space(ppr::WorkspaceShape::of(1u << 10, graph.vertices(), top));
    const ppr::Seeds seeds = seeds_of(graph, {{17, 1}});
    const Expected expected(graph, options, seeds);
    expect_same(answer_alone(space, rules.of(options), seeds), expected);
  }
}

}  // namespace
}  // namespace sluice::test
