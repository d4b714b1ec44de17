// Walks of Monte-Carlo queries in queues, in partitions and on ranks. Ends, scores and steps equal those of
// the whole graph, however few queries or walks are under way.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/ppr/evaluate.hpp"
#include "partition/elsewhere.hpp"
#include "ppr/on_ranks.hpp"

namespace sluice::test {
namespace {

/// Unweighted and weighted walks, both rules for dead ends, unlimited and short lengths.
std::vector<ppr::Options> walk_methods() {
  std::vector<ppr::Options> all;
  for (ppr::Options options : ppr_rules()) {
    options.method = ppr::Method::walks;
    options.top = 20;
    options.walks = 157;
    for (const std::uint32_t length : {0u, 1u, 3u}) {
      options.length = length;
      all.push_back(options);
    }
  }
  return all;
}

TEST(PprQueuedWalks, AreThoseOfTheWholeGraph) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    const Starts starts = starts_of(queries_of(graph));
    for (ppr::Options options : walk_methods()) {
      options.weighted = options.weighted && graph.weighted;
      const Ran whole = ran(device, graph, starts, options);

      const Ran parts = ran(device, graph, starts, options, {.partitions = 5});
      const OnRanks shared = on_ranks(3, graph, starts, options, {.partitions = 7});

      expect_same(parts, whole);
      expect_same_figures(parts.rows, whole.rows);
      EXPECT_EQ(parts.stats.traffic.restarts, 0u);
      EXPECT_TRUE(shared.rows == whole.rows);
      std::uint64_t edges = 0, reached = 0;
      for (const ppr::Stats& some : shared.stats) edges += some.edges, reached += some.reached;
      EXPECT_EQ(edges, whole.stats.edges);
      EXPECT_EQ(reached, whole.stats.reached);
      shared.asked();  // all requests are answered
    }
  }
}

/// All walks end at their start, before any list arrives.
TEST(PprQueuedWalks, MayMakeNoStep) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  ppr::Options options = walk_methods().front();
  options.alpha = 0;
  const Starts starts = starts_of(queries_of(graph));

  const Ran parts = ran(device, graph, starts, options, {.partitions = 5});

  expect_same(parts, ran(device, graph, starts, options));
  EXPECT_EQ(parts.stats.edges, 0u);
}

/// Edges are in a file and there are two slots: a batch holds some of a query's walks, or those of several.
TEST(PprQueuedWalks, StayWithinTheDeviceMemory) {
  constexpr std::uint64_t kMemory = 400u << 10;
  const auto make = [] { return generated(io::GraphKind::kronecker, 12, true, io::WeightRule::uniform); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, kMemory});
  for (const bool weighted : {false, true}) {
    ppr::Options options;
    options.method = ppr::Method::walks;
    options.walks = 2000;
    options.top = 10;
    options.last_instance = 3;
    options.weighted = weighted;
    const PagingOptions paging{.partitions = 16, .slots = 2, .transport = Transport::file};
    const Ran whole = ran(ample, in_memory, {}, options);

    const Ran parts = ran(tight, in_file, {}, options, paging);

    expect_same(parts, whole);
    EXPECT_GT(parts.stats.traffic.read_bytes, in_memory.edges() * 4) << "all walks were under way at once";
    EXPECT_LE(tight.memory().peak(), kMemory);
    EXPECT_EQ(tight.memory().used(), 0u);
  }
}

/// Every rank owns several partitions and has two slots.
TEST(PprQueuedWalks, StayWithinTheDeviceMemoryOfRanks) {
  constexpr std::uint64_t kMemory = 5u << 20;  // walks that are sent use 4 MiB of it
  const auto make = [] { return generated(io::GraphKind::kronecker, 9, true, io::WeightRule::uniform); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  ppr::Options options;
  options.method = ppr::Method::walks;
  options.walks = 200;
  options.top = 10;
  options.length = 3;
  const Starts starts = starts_of(queries_of(in_memory));
  for (const int size : {2, 3}) {
    options.weighted = size == 2;
    const Ran whole = ran(Device({DeviceChoice::host, 2, 0}), in_memory, starts, options);

    const OnRanks shared = on_ranks(size, in_file, starts, options,
                                    {.partitions = 9, .slots = 2, .transport = Transport::file}, kMemory);

    EXPECT_GT(shared.asked(), 0u);
    EXPECT_LE(shared.peak, kMemory);
    EXPECT_TRUE(shared.rows == whole.rows);
  }
}

/// The host's memory holds the ends of a few queries at a time.
TEST(PprQueuedWalks, AreMadeOfSomeQueriesAtATime) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::none);
  ppr::Options options;
  options.method = ppr::Method::walks;
  options.walks = 10000;
  options.top = 10;
  options.last_instance = 40;
  const Ran whole = ran(device, graph, {}, options);
  MemoryBudget& host = host_budget();
  const std::uint64_t ceiling = host.ceiling();
  host.set_ceiling(host.used() + (2u << 20));

  const Ran parts = ran(Device({DeviceChoice::host, 2, 0}), graph, {}, options, {.partitions = 8});

  host.set_ceiling(ceiling);
  expect_same(parts, whole);
}

/// Ranks request lists at their own pace, between walks that they make together.
TEST(PprQueuedWalks, AreEvaluatedOnRanks) {
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2, 0});
  ppr::Options options;
  options.method = ppr::Method::walks;
  options.walks = 300;
  options.top = 20;
  options.alpha = 0.5;
  for (const std::uint32_t length : {0u, 3u}) {
    options.length = length;
    for (const auto& queries : {queries_of(graph), std::vector<WeightedSeeds>{{{1, 1}}}}) {
      const Starts starts = starts_of(queries);
      const Ran whole = ran(device, graph, starts, options);
      const OnRanks shared = on_ranks(3, graph, starts, options, {.partitions = 4}, 0,
                                      [&](std::size_t, const Device& own_device, const ppr::Options& own,
                                          KeptRows& rows, const PagingOptions& shard) {
                                        ppr::Evaluator evaluator(own_device, graph, starts, own, rows, shard);
                                        return run_ppr(own_device, graph, starts, own, evaluator, shard);
                                      });
      EXPECT_TRUE(shared.rows == whole.rows);
      shared.asked();  // all requests are answered
    }
  }
}

TEST(PprQueuedWalks, SayWhatIsTooLittle) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  KeptRows rows;
  ppr::Options options;
  options.method = ppr::Method::walks;
  const Device tight({DeviceChoice::host, 2, 30u << 10});

  EXPECT_THROW(run_ppr(tight, graph, {}, options, rows, {.partitions = 64}), BudgetError);
  EXPECT_LE(tight.memory().peak(), 30u << 10);
  EXPECT_EQ(tight.memory().used(), 0u);
}

}  // namespace
}  // namespace sluice::test
