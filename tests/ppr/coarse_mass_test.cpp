// Masses of 32 bits in memory (--score-units) give the scores that the same units give in 64 bits.
#include <gtest/gtest.h>

#include "ppr/group_support.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

/// The methods that allow few units, with few units and with the most.
std::vector<ppr::Options> in_units(const std::vector<ppr::Options>& methods) {
  std::vector<ppr::Options> all;
  for (ppr::Options options : methods) {
    if (options.method != ppr::Method::exact && options.method != ppr::Method::staged) continue;
    options.weighted = all.size() % 4 > 1;
    options.unit_degree = ppr::BallDegree::none;
    options.score_units = all.size() % 2 == 0 ? 1009 : ~0u;
    all.push_back(options);
  }
  return all;
}

/// Compares one thread in a growing workspace with one in a fixed workspace of either mass type.
template <template <class, class> class Query>
void expect_same_in_both(const std::vector<ppr::Options>& methods) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const ppr::WorkspaceShape shape = ppr::WorkspaceShape::of(n, n, n, 3);
    const Space fine(shape);
    const CoarseSpace coarse(shape);
    for (const ppr::Options& options : in_units(methods)) {
      for (const auto& of_query : {queries_of(graph).front(), queries_of(graph).back()}) {
        const ppr::Seeds seeds = seeds_of(graph, of_query);
        const Expected expected(graph, options, seeds);
        expect_same(answer_alone<Query>(fine, rules.of(options), seeds), expected);
        expect_same(answer_alone<Query>(coarse, rules.of(options), seeds), expected);
      }
    }
    EXPECT_TRUE(coarse.is_clear());
    EXPECT_LE(coarse.bytes(), fine.bytes());
  }
}

TEST(CoarseMass, ComesToTheScoresOfMassesOf64Bits) {
  expect_same_in_both<ppr::GroupQuery>(group_methods());
}

TEST(CoarseMass, ComesToTheScoresOfMassesOf64BitsOneByOne) {
  expect_same_in_both<ppr::GroupOneByOne>(one_by_one_methods());
}

/// Tests few methods, since rounds have barriers and these threads may share a core.
template <template <class, class> class Query>
void expect_same_together(const ppr::WorkspaceShape& shape, const std::vector<ppr::Options>& methods) {
  const Graph graph = generated(io::GraphKind::kronecker, 5, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const CoarseSpace space(shape);
  for (const ppr::Options& options : in_units({methods[1], methods[6]})) {
    expect_same(answer_together<Query>(space, rules.of(options), seeds), Expected(graph, options, seeds));
    EXPECT_TRUE(space.is_clear());
  }
}

TEST(CoarseMass, IsTheSameForThreadsThatMeetInOneTable) {
  expect_same_together<ppr::GroupQuery>(ppr::WorkspaceShape::of(32, 32, 0), group_methods());
}

TEST(CoarseMass, IsTheSameForThreadsThatMeetInTwoTables) {
  expect_same_together<ppr::GroupOneByOne>(ppr::WorkspaceShape::of(32, 32, 32, 3), one_by_one_methods());
}

/// All mass gathers at one vertex again and again, which gives the largest possible sums.
TEST(CoarseMass, DoesNotOverflowWhereAllUnitsMeet) {
  std::vector<stat::Edge> star;
  for (Vertex v = 1; v < 9; ++v) star.insert(star.end(), {{0, v}, {v, 0}});
  const Graph graph = stat::make_graph(9, star, false);
  ppr::Options options;
  options.alpha = 0.99;
  options.length = 40;
  options.score_units = ~0u;
  const SolvedQuery solved = solve(graph, options, {{0, 1}});
  EXPECT_LE(largest_difference(solved.scores, dense_ppr(graph, options, {{0, 1}})), solved.figures.error);
  options.alpha = 0;
  EXPECT_EQ(solve(graph, options, {{0, 1}}).scores[0], 1.0);
}

TEST(CoarseMass, TakesLessMemory) {
  const Graph graph = generated(io::GraphKind::rmat, 12, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2, 0});
  for (const bool one_by_one : {false, true}) {
    ppr::Options options;
    options.method = ppr::Method::staged;
    options.one_by_one = one_by_one;
    options.balls = one_by_one ? 2 : 1;
    options.last_instance = 3;
    const ppr::Plan plan = plan_ppr(device, graph, {}, options);
    const ppr::Stats stats = ran(device, graph, {}, options).stats;
    const ppr::WorkspaceShape fine = first_workspace(graph.vertices(), options);
    options.score_units = 1u << 30;
    const ppr::Plan coarse = plan_ppr(device, graph, {}, options);
    const ppr::Stats in_units = ran(device, graph, {}, options).stats;

    EXPECT_LT(in_units.query_bytes, stats.query_bytes);
    EXPECT_LT(coarse.largest_query_bytes, plan.largest_query_bytes);
    EXPECT_LT(first_workspace(graph.vertices(), options).bytes() * 5, fine.bytes() * 4);
    EXPECT_LE(in_units.peak_query_bytes, coarse.largest_query_bytes);
  }
}

}  // namespace
}  // namespace sluice::test
