// The choice of memory for queries on a GPU: workspaces while they pay, dense rows if those need less time,
// and back.
#include "engine/ppr/query_route.hpp"

#include <gtest/gtest.h>

#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kBlocks = 528;
constexpr std::uint64_t kMiddling = 300'000, kLarge = 20'000'000;

ppr::RouteLimits limits_of(std::uint64_t vertices) {
  return {vertices, kBlocks, true, true};
}

ppr::QueryRoute route_of(const ppr::RouteLimits& limits) {
  return {limits, ppr::first_workspace(limits.vertices, {})};
}

/// The limits of the workspaces that a batch tries before it uses dense rows, if all queries outgrow each.
std::vector<std::uint64_t> workspaces_of(ppr::QueryRoute& route, std::uint64_t queries) {
  std::vector<std::uint64_t> workspaces;
  route.begin(queries);
  while (!route.prefers_dense_rows(queries)) {
    workspaces.push_back(route.workspace().limit);
    if (route.workspace().holds_all()) break;
    route.outgrown(queries);
  }
  return workspaces;
}

/// A single query: whether it tried a workspace, and whether dense rows answered it.
struct Went {
  bool to_workspace, side_by_side;
  bool operator==(const Went&) const = default;
};
Went ask_alone(ppr::QueryRoute& route, std::uint64_t reached) {
  Went went{false, false};
  route.begin(1);
  while (!(went.side_by_side = route.prefers_dense_rows(1))) {
    went.to_workspace = true;
    if (reached <= route.workspace().limit) break;
    route.outgrown(1);
  }
  route.record_answer(reached);
  return went;
}

TEST(PprRoute, TakesFewQueriesSideBySideFromTheFirstWorkspaceOn) {
  for (const std::uint64_t queries : {1u, 2u, 32u}) {
    ppr::QueryRoute route = route_of(limits_of(kMiddling));
    EXPECT_EQ(workspaces_of(route, queries), (std::vector<std::uint64_t>{2048})) << queries;
  }
  // More queries than a group, or such large rows that workspaces need less time.
  ppr::QueryRoute more = route_of(limits_of(kMiddling)), larger = route_of(limits_of(kLarge));
  EXPECT_GT(workspaces_of(more, 200).size(), 1u);
  EXPECT_GT(workspaces_of(larger, 1).size(), 2u);
}

TEST(PprRoute, ComesToRowsOnceAWorkspaceIsAsLarge) {
  for (const std::uint64_t vertices : {std::uint64_t{100}, std::uint64_t{20'000}, kMiddling, kLarge}) {
    for (const std::uint64_t blocks : {1u, 64u, 528u, 5000u}) {
      ppr::RouteLimits limits = limits_of(vertices);
      limits.blocks = blocks;
      ppr::QueryRoute route = route_of(limits);
      route.begin(100'000);
      while (!route.prefers_dense_rows(100'000)) {
        EXPECT_LT(route.workspace().bytes(), ppr::DenseShape{vertices}.query_bytes());
        ASSERT_FALSE(route.workspace().holds_all());
        route.outgrown(100'000);
      }
    }
  }
}

TEST(PprRoute, ReturnsToWorkspacesWhereTheyAreEnough) {
  ppr::QueryRoute route = route_of(limits_of(kMiddling));
  EXPECT_EQ(ask_alone(route, 100'000), (Went{true, true}));
  EXPECT_EQ(ask_alone(route, 100), (Went{false, true}));  // nothing is known yet
  for (int query = 0; query < 10; ++query) EXPECT_EQ(ask_alone(route, 100), (Went{true, false})) << query;
  EXPECT_EQ(ask_alone(route, 100'000), (Went{true, true}));
  EXPECT_EQ(ask_alone(route, 100), (Went{true, false}));
}

TEST(PprRoute, TriesNoWorkspacesWhereHardlyAnyQueryFitsThem) {
  ppr::QueryRoute route = route_of(limits_of(kMiddling));
  int tried = 0;
  for (int query = 0; query < 400; ++query)
    tried += ask_alone(route, query % 20 == 7 ? 100 : 100'000).to_workspace;
  EXPECT_LE(tried, 2);
}

TEST(PprRoute, ForgetsWhatWasLongAgo) {
  ppr::QueryRoute route = route_of(limits_of(kMiddling));
  for (int query = 0; query < 1000; ++query) ask_alone(route, 100'000);
  int side_by_side = 0;
  for (int query = 0; query < 100; ++query) side_by_side += ask_alone(route, 100).side_by_side;
  EXPECT_GT(side_by_side, 0);
  EXPECT_LT(side_by_side, 32);
}

TEST(PprRoute, LeavesOutWorkspacesThatHardlyAnyOfThoseWhoComeFit) {
  ppr::QueryRoute route = route_of(limits_of(kMiddling));
  const std::uint64_t batch = 10'000, left = 7000;
  EXPECT_GT(workspaces_of(route, batch).size(), 1u);  // other queries, of which the test knows nothing
  for (std::uint64_t query = 0; query < batch; ++query) route.record_answer(query < left ? 100'000 : 100);
  route.begin(batch);
  ASSERT_FALSE(route.prefers_dense_rows(batch));
  ASSERT_EQ(route.workspace().limit, 2048u);
  route.outgrown(left);
  EXPECT_TRUE(route.prefers_dense_rows(left));
}

TEST(PprRoute, LooksBeyondAWorkspaceThatIsTooSmallForMost) {
  ppr::QueryRoute route = route_of(limits_of(kLarge));
  const std::uint64_t batch = 1000;
  for (std::uint64_t query = 0; query < batch; ++query) route.record_answer(query < 500 ? 100 : 30'000);
  route.begin(batch);
  EXPECT_FALSE(route.prefers_dense_rows(batch));
  route.outgrown(500);
  EXPECT_FALSE(route.prefers_dense_rows(500));  // none fits this workspace, all fit the next
  route.outgrown(500);
  EXPECT_FALSE(route.prefers_dense_rows(500));
  route.outgrown(500);
  EXPECT_EQ(route.workspace().limit, 131'072u);
}

TEST(PprRoute, BeginsWithALargerWorkspaceWhereMostOfABatchOutgrewOne) {
  ppr::RouteLimits limits = limits_of(kLarge);
  limits.rows = false;
  ppr::QueryRoute route = route_of(limits);
  const auto first = [&] {
    route.begin(1000);
    return route.workspace().limit;
  };
  EXPECT_EQ(first(), 2048u);
  route.outgrown(500);
  EXPECT_EQ(first(), 2048u);
  route.outgrown(600);
  route.outgrown(400);  // most queries of this attempt, but not of the batch
  EXPECT_EQ(first(), 8192u);
  route.outgrown(501);
  route.outgrown(501);
  EXPECT_EQ(first(), 131'072u);
}

TEST(PprRoute, KeepsToOneWayWhereThereIsNoOther) {
  ppr::RouteLimits limits = limits_of(100);
  limits.rows = false;
  ppr::QueryRoute in_workspaces = route_of(limits);
  in_workspaces.begin(1);
  EXPECT_FALSE(in_workspaces.prefers_dense_rows(1));

  limits = limits_of(kLarge);
  limits.workspaces = false;
  ppr::QueryRoute side_by_side = route_of(limits);
  EXPECT_TRUE(workspaces_of(side_by_side, 1).empty());

  ppr::QueryRoute either = route_of(limits_of(kMiddling));
  either.begin(1);
  either.outgrown(1);
  EXPECT_TRUE(either.prefers_dense_rows(1));
  either.disable_rows();
  EXPECT_FALSE(either.prefers_dense_rows(1));
}

}  // namespace
}  // namespace sluice::test
