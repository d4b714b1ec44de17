// Balls of a query diffused at once give the lists and figures of balls one after the other. This holds for
// any number of balls and threads, and for any table size.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "ppr/group_support.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t kBalls[] = {1, 3, 16};
constexpr unsigned kThreads[] = {1, 3};

Ran ran_side_by_side(const Graph& graph, const Starts& starts, ppr::Options options, std::uint32_t balls,
                     unsigned threads) {
  options.balls = balls;
  return ran(Device({DeviceChoice::host, threads, 0}), graph, starts, options);
}

void expect_same_side_by_side(const Graph& graph, const Starts& starts, const ppr::Options& options) {
  const Ran expected = ran_side_by_side(graph, starts, options, 1, 1);
  for (const std::uint32_t balls : kBalls) {
    for (const unsigned threads : kThreads) {
      SCOPED_TRACE(testing::Message() << balls << " balls on " << threads << " threads");

      const Ran found = ran_side_by_side(graph, starts, options, balls, threads);

      expect_same(found, expected);
      EXPECT_EQ(found.stats.peak_table_entries, expected.stats.peak_table_entries);
    }
  }
}

TEST(HostTeam, FindsWhatBallsOneAfterAnotherFind) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    const Starts starts = starts_of(queries_of(graph));
    for (ppr::Options options : one_by_one_methods()) {
      options.weighted = options.stages.size() == 3;
      expect_same_side_by_side(graph, starts, options);
    }
  }
}

TEST(HostTeam, KeepsTheOrderInWhichTablesDropScores) {
  // Balls have thousands of vertices, so every ball overflows its table.
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}, {{3, 1}, {40, 2}}});
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  options.top = 20;
  options.expand = 0.05;
  options.stages = {2, 2, 1};
  for (const std::uint32_t table : {0u, 2u, 10u, 40u}) {
    for (const ppr::TableLimit limit : {ppr::TableLimit::soft, ppr::TableLimit::hard}) {
      if (table == 0 && limit == ppr::TableLimit::hard) continue;
      SCOPED_TRACE(testing::Message() << table << (limit == ppr::TableLimit::hard ? " hard" : " soft"));
      options.table = table, options.table_limit = limit;
      expect_same_side_by_side(graph, starts, options);
    }
  }
}

TEST(HostTeam, CountsItsMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}});
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;

  const Ran alone = ran_side_by_side(graph, starts, options, 1, 1);
  const Ran both = ran_side_by_side(graph, starts, options, 2, 2);

  EXPECT_GT(both.stats.peak_query_bytes, alone.stats.peak_query_bytes);
  const Device device({DeviceChoice::host, 2, 0});
  options.balls = 2;
  EXPECT_GE(plan_ppr(device, graph, starts, options).largest_query_bytes, both.stats.peak_query_bytes);
}

TEST(HostTeam, HasFewerBallsWhereMemoryIsShort) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}, {{5, 1}}});
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  const Ran expected = ran_side_by_side(graph, starts, options, 1, 1);
  options.balls = 64;

  const Device device({DeviceChoice::host, 2, 1u << 20});

  expect_same(ran(device, graph, starts, options), expected);
}

TEST(HostTeam, ThrowsWhatStoppedABallAndIsUsableAgain) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  options.expand = 0.01;
  const ppr::Seeds far = seeds_of(graph, {{17, 1}}), near = seeds_of(graph, {{lone_vertex(graph), 1}});
  const Device all({DeviceChoice::host, 1, 0});
  const auto alone = ppr::QuerySolver::make(all, graph.out.view(), options);
  const std::uint64_t bytes = solve_with(*alone, far, 0).peak_bytes;
  for (const unsigned threads : kThreads) {
    const Device some({DeviceChoice::host, threads, bytes + (64u << 10)});
    const auto solver = ppr::QuerySolver::make(some, graph.out.view(), options, 4, threads);

    for (int again = 0; again < 3; ++again) {
      EXPECT_THROW(solve_with(*solver, far, 0), BudgetError);
      EXPECT_EQ(solve_with(*solver, near, 0).reached, 1u);
    }
  }
}

ppr::Options one_by_one() {
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  return options;
}

TEST(HostTeam, FindsTheSameInPartitions) {
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::uniform);
  const Starts starts = starts_of(three_queries_of(graph));  // each needs many rounds
  for (ppr::Options options : one_by_one_methods()) {
    options.weighted = options.stages.size() == 3;
    const Ran expected = ran_side_by_side(graph, starts, options, 1, 1);
    for (const std::uint32_t balls : {1u, 2u, 4u, 16u}) {
      for (const PagingOptions& paging :
           {PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
            PagingOptions{.partitions = 16, .slots = 2},
            PagingOptions{.partitions = 7, .transport = Transport::mapped}}) {
        SCOPED_TRACE(testing::Message() << balls << " balls, " << paging.partitions << " partitions");
        const unsigned threads = paging.transport == Transport::mapped ? 3 : 1;
        options.balls = balls;

        const Ran found = ran(Device({DeviceChoice::host, threads, 0}), graph, starts, options, paging);

        expect_same(found, expected);
        EXPECT_EQ(found.stats.peak_table_entries, expected.stats.peak_table_entries);
        EXPECT_EQ(found.stats.traffic.restarts, 0u);
      }
    }
  }
}

TEST(HostTeam, BringsListsOfSeveralBallsTogether) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}});
  ppr::Options options = one_by_one();
  options.expand = 0.05;
  const PagingOptions paging{.partitions = 16, .slots = 2, .transport = Transport::copied};
  const Ran expected = ran_side_by_side(graph, starts, options, 1, 1);
  std::uint64_t before = 0;
  for (const std::uint32_t balls : {16u, 4u, 2u, 1u}) {
    for (const unsigned threads : kThreads) {
      options.balls = balls;

      const Ran found = ran(Device({DeviceChoice::host, threads, 0}), graph, starts, options, paging);

      expect_same(found, expected);
      EXPECT_GT(found.stats.traffic.list_rounds, before * 3 / 2);
      if (threads == kThreads[1]) before = found.stats.traffic.list_rounds;
    }
  }
}

/// If memory holds one ball at a time, runs with several balls use as many as fit.
TEST(HostTeam, FitsInPartitionsWhereBallsOneAfterAnotherDo) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}, {{5, 1}}, {{40, 1}}});
  ppr::Options options = one_by_one();
  options.expand = 0.05;
  const PagingOptions paging{.partitions = 16};
  const Ran expected = ran_side_by_side(graph, starts, options, 1, 1);
  const auto fits = [&](std::uint64_t memory, std::uint32_t balls) {
    const Device device({DeviceChoice::host, 2, memory});
    options.balls = balls;
    try {
      expect_same(ran(device, graph, starts, options, paging), expected);
    } catch (const BudgetError&) {
      return false;
    }
    EXPECT_LE(device.memory().peak(), memory);
    return true;
  };
  std::uint64_t least = 32u << 10;
  while (!fits(least, 1)) least += 4u << 10;
  for (const std::uint32_t balls : {2u, 4u, 16u}) {
    for (const std::uint64_t memory : {least, least + least / 4, 2 * least, 8 * least})
      EXPECT_TRUE(fits(memory, balls)) << balls << " balls, " << memory << " bytes";
  }
}

}  // namespace
}  // namespace sluice::test
