// ACC solvers compared with plain code, on hard graphs, with one and several threads.
#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {
namespace {

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class Acc : public testing::TestWithParam<unsigned> {
 protected:
  const Device device_{{DeviceChoice::host, GetParam(), 0}};
};

TEST_P(Acc, FindsDepthsAndTheSmallestParents) {
  for (const auto& [name, graph] : acc_graphs()) {
    const acc::AccGraph on_device(device_, graph, {.in_edges = true});
    for (const Vertex source : some_sources(graph)) {
      SCOPED_TRACE(name + " from " + std::to_string(source));
      const OracleSearch expected = oracle_bfs(graph, source);
      for (const acc::AccDirection direction :
           {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
        if (direction == acc::AccDirection::pull && !on_device.has_in_edges()) {
          EXPECT_THROW(bfs(on_device, source, {.direction = direction}), UsageError);
          continue;
        }
        const acc::BfsResult result = bfs(on_device, source, {.direction = direction});

        EXPECT_TRUE(same(result.depths, expected.depths));
        EXPECT_TRUE(same(result.parents, expected.parents));
        EXPECT_NO_THROW(acc::verify_bfs(graph, source, result.depths.span(), result.parents.span()));
      }
    }
  }
}

TEST_P(Acc, FindsDistancesToTheBit) {
  for (const auto& [name, graph] : acc_graphs()) {
    const acc::AccGraph on_device(device_, graph, {.weights = true});
    for (const Vertex source : some_sources(graph)) {
      SCOPED_TRACE(name + " from " + std::to_string(source));
      const auto expected = oracle_distances(graph, source);
      for (const double delta : {0.0, 1e-3, 0.3, 1e9}) {
        const acc::SsspResult result = sssp(on_device, source, delta);

        EXPECT_TRUE(same(result.distances, expected));
        EXPECT_NO_THROW(acc::verify_sssp(graph, source, result.distances.span()));
      }
    }
  }
}

TEST_P(Acc, FindsCoreNumbers) {
  for (const auto& [name, graph] : acc_graphs()) {
    SCOPED_TRACE(name);
    const acc::AccGraph on_device(device_, graph, {.simple = true});
    const auto expected = oracle_cores(graph);

    const acc::CoreResult result = core_numbers(on_device);

    EXPECT_TRUE(same(result.cores, expected));
    EXPECT_NO_THROW(acc::verify_cores(graph, 0, result.cores.span()));
    for (const std::uint32_t k : {1u, 2u, 3u, 7u, 1000u}) {
      const acc::CoreResult members = core_numbers(on_device, k);
      for (std::size_t v = 0; v < expected.size(); ++v)
        ASSERT_EQ(members.cores[v] >= k, expected[v] >= k) << k << "-core, vertex " << v;
      EXPECT_NO_THROW(acc::verify_cores(graph, k, members.cores.span()));
    }
  }
}

TEST_P(Acc, NamesComponentsByTheirSmallestVertex) {
  for (const auto& [name, graph] : acc_graphs()) {
    SCOPED_TRACE(name);
    const acc::AccGraph on_device(device_, graph, {});

    const acc::ComponentResult result = components(on_device);

    EXPECT_TRUE(same(result.components, oracle_components(graph)));
    EXPECT_NO_THROW(acc::verify_components(graph, result.components.span()));
  }
}

/// Partitions that share slots, many small partitions, and lists that are read in place.
std::vector<acc::AccPlace> in_partitions() {
  const auto place = [](const PagingOptions& paging) { return acc::AccPlace{.paging = paging}; };
  return {place({.partitions = 6, .slots = 2, .transport = Transport::copied}), place({.partitions = 40}),
          place({.partitions = 3, .transport = Transport::mapped})};
}

TEST_P(Acc, FindsTheSameInPartitions) {
  for (const auto& [name, graph] : acc_graphs()) {
    for (const acc::AccPlace& place : in_partitions()) {
      SCOPED_TRACE(name + " in " + std::to_string(place.paging.partitions));
      const acc::AccGraph search(device_, graph, {.in_edges = true, .weights = true}, place);
      for (const Vertex source : some_sources(graph)) {
        const OracleSearch expected = oracle_bfs(graph, source);
        for (const acc::AccDirection direction :
             {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
          if (direction == acc::AccDirection::pull && !search.has_in_edges()) {
            EXPECT_THROW(bfs(search, source, {.direction = direction}), UsageError);
            continue;
          }
          const acc::BfsResult found = bfs(search, source, {.direction = direction});
          EXPECT_TRUE(same(found.depths, expected.depths));
          EXPECT_TRUE(same(found.parents, expected.parents));
        }
        for (const double delta : {0.0, 1e-3, 1e9})
          EXPECT_TRUE(same(sssp(search, source, delta).distances, oracle_distances(graph, source)));
      }
      if (!graph.directed) {
        const acc::AccGraph simple(device_, graph, {.simple = true}, place);
        EXPECT_TRUE(same(core_numbers(simple).cores, oracle_cores(graph)));
        EXPECT_NO_THROW(acc::verify_cores(graph, 3, core_numbers(simple, 3).cores.span()));
      }
      EXPECT_TRUE(same(components(search).components, oracle_components(graph)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Acc, testing::Values(1u, 2u, 5u));

TEST(AccOptions, ThatHaveNoMeaningAreRefused) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = generated(io::GraphKind::grid, 4, true, io::WeightRule::uniform);
  const acc::AccGraph on_device(device, graph, {.in_edges = true, .weights = true});
  const auto none = static_cast<Vertex>(graph.vertices());
  EXPECT_THROW(bfs(on_device, none), UsageError);
  EXPECT_THROW(sssp(on_device, none), UsageError);
  EXPECT_THROW(sssp(on_device, 0, -1), UsageError);
  EXPECT_NO_THROW(bfs(on_device, none - 1));
}

TEST(AccRounds, PullWhereThatIsLessWorkAndSaySo) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  const acc::AccGraph on_device(device, graph, {.in_edges = true});

  const acc::AccStats either = bfs(on_device, 0).stats;
  const acc::AccStats push = bfs(on_device, 0, {.direction = acc::AccDirection::push}).stats;

  EXPECT_GT(either.pulls, 0u);
  EXPECT_EQ(push.pulls, 0u);
  EXPECT_LT(either.edges, push.edges / 2);
  EXPECT_EQ(either.trace.size(), either.rounds);
}

/// Runs in partitions have the directions of runs in memory, and read as many edges.
TEST(AccRounds, PullInPartitionsToo) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph undirected = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none),
              directed = rank_rmat(false, true);
  for (const Graph* graph : {&undirected, &directed}) {
    const acc::AccStats whole = bfs(acc::AccGraph(device, *graph, {.in_edges = true}), 0).stats;
    EXPECT_GT(whole.pulls, 0u);
    for (const acc::AccPlace& place : in_partitions()) {
      const acc::AccStats stats = bfs(acc::AccGraph(device, *graph, {.in_edges = true}, place), 0).stats;

      EXPECT_EQ(stats.edges, whole.edges);
      ASSERT_EQ(stats.rounds, whole.rounds);
      for (std::size_t i = 0; i < whole.rounds; ++i) {
        EXPECT_EQ(stats.trace[i].pull, whole.trace[i].pull);
        EXPECT_EQ(stats.trace[i].active, whole.trace[i].active);
        EXPECT_EQ(stats.trace[i].edges, whole.trace[i].edges);
      }
    }
  }
}

TEST(AccRounds, AreCountedBeyondThoseThatAreReported) {
  const Device device({DeviceChoice::host, 2, 0});
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v < 5000; ++v) path.push_back({v, v + 1});
  const Graph graph = stat::make_undirected(5001, path, false);

  const acc::AccStats stats = bfs(acc::AccGraph(device, graph, {.in_edges = true}), 0).stats;

  EXPECT_EQ(stats.rounds, 5001u);
  EXPECT_EQ(stats.trace.size(), acc::kTracedRounds);
}

TEST(AccRounds, GoBackToTheStatesBeyondTheBins) {
  const Device device({DeviceChoice::host, 2, 0});
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v < 300; ++v) path.push_back({v, v + 1, v % 2 == 0 ? 1.0f : 1000.0f});
  const Graph graph = stat::make_graph(301, path, true);

  const acc::SsspResult result = sssp(acc::AccGraph(device, graph, {.weights = true}), 0, 1.0);

  EXPECT_TRUE(same(result.distances, oracle_distances(graph, 0)));
  EXPECT_GT(result.stats.refills, 100u);
}

TEST(AccPartitions, WithoutActiveVerticesAreNeverBrought) {
  const Device device({DeviceChoice::host, 2, 0});
  const acc::AccPlace place{.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}};
  const Graph graph = stretches(true), both_ways = stretches(false);
  const acc::AccGraph search(device, graph, {.weights = true}, place);
  const acc::AccGraph simple(device, both_ways, {.simple = true}, place);

  const acc::AccStats one = bfs(search, 230).stats, last = bfs(search, 399).stats,
                      far = sssp(search, 110).stats, none = core_numbers(simple, 1).stats,
                      all = core_numbers(simple).stats, merged = components(search).stats;

  EXPECT_EQ(one.partitions, 4u);
  EXPECT_EQ(one.partition_transfers, 1u);
  EXPECT_EQ(one.rounds, 70u);
  EXPECT_EQ(last.partition_transfers, 0u);
  EXPECT_EQ(far.partition_transfers, 1u);
  EXPECT_EQ(none.partition_transfers, 0u);  // a vertex without neighbours reads no list
  EXPECT_GE(all.partition_transfers, 4u);
  EXPECT_EQ(merged.partition_transfers, 4u);
}

/// Two slots serve four partitions. A partition whose vertices are all settled is not brought for a pull.
TEST(AccPartitions, WhoseVerticesAreAllSettledAreNotBroughtForPulls) {
  const Device device({DeviceChoice::host, 1, 0});
  const acc::AccPlace place{.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}};
  const Graph apart = stretches(false);  // the other three stretches are never reached
  std::vector<stat::Edge> star;
  for (Vertex v = 1; v < 400; ++v) star.push_back({0, v, 1});
  const Graph near = stat::make_undirected(400, star, false);

  const acc::AccGraph far_away(device, apart, {.in_edges = true}, place),
      around(device, near, {.in_edges = true}, place);
  const acc::AccStats pulled = bfs(far_away, 100, {.direction = acc::AccDirection::pull}).stats,
                      pushed = bfs(far_away, 100, {.direction = acc::AccDirection::push}).stats,
                      reached = bfs(around, 0, {.direction = acc::AccDirection::pull}).stats;

  EXPECT_EQ(pulled.pulls, 100u);
  EXPECT_GT(pulled.partition_transfers, 100u);  // unreached partitions are brought repeatedly
  EXPECT_EQ(pushed.partition_transfers, 1u);
  EXPECT_EQ(reached.rounds, 2u);
  EXPECT_LE(reached.partition_transfers, reached.partitions);  // none in the last round
}

TEST(AccPartitions, StayWhileTheyAreWanted) {
  const Device device({DeviceChoice::host, 1, 0});
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v + 1 < 800; ++v) path.push_back({v, v + 1});
  const Graph graph = stat::make_undirected(800, path, false);
  const acc::AccPlace place{.paging = {.partitions = 8, .slots = 2, .transport = Transport::copied}};

  const acc::BfsResult result = bfs(acc::AccGraph(device, graph, {}, place), 350);

  EXPECT_TRUE(same(result.depths, oracle_bfs(graph, 350).depths));
  EXPECT_GE(result.stats.partition_transfers, 8u);
  EXPECT_LE(result.stats.partition_transfers, 16u);  // two are needed at a time, in two slots
}

TEST(AccPartitions, OfTheTreeThatHoldsAHubAreSpared) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = hub_with_rim();
  const acc::AccPlace place{.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}};

  const acc::ComponentResult result = components(acc::AccGraph(device, graph, {}, place));

  EXPECT_TRUE(same(result.components, oracle_components(graph)));
  EXPECT_GT(result.stats.partitions, 2u);
  EXPECT_EQ(result.stats.partition_transfers, 1u);
}

acc::AccPlan plan_cores(const Device& device, const Graph& graph, const acc::AccPlace& place) {
  return plan_solver(device, graph, {.simple = true, .makes_simple = true}, place, {},
                     [](const acc::AccGraph& on) { return core_numbers(on); });
}

TEST(AccPartitions, RefuseTheSimpleFormOfADirectedGraph) {
  const Device device({DeviceChoice::host, 1, 0}), small({DeviceChoice::host, 1, 4});
  const Graph graph = stat::make_graph(3, {{0, 1}, {1, 2}}, false);
  for (const acc::AccPlace& place : {acc::AccPlace{.paging = {.transport = Transport::file}},
                                     acc::AccPlace{.paging = {.partitions = 2}}}) {
    EXPECT_THROW(acc::AccGraph(device, graph, {.simple = true}, place), UsageError);
    EXPECT_THROW(plan_cores(device, graph, place), UsageError);
  }
  EXPECT_THROW(acc::AccGraph(small, graph, {.simple = true}), BudgetError) << "partitions were not asked for";
}

TEST(AccPartitions, RefuseTheSimpleFormOfAGraphInItsFile) {
  const Device device({DeviceChoice::host, 1, 0});
  const auto loop = [] { return stat::make_undirected(3, {{0, 1}, {1, 1}, {1, 2}}, false); };
  const Graph whole = loop(), file = elsewhere(loop());
  EXPECT_THROW(acc::AccGraph(device, file, {.simple = true}), BudgetError);
  EXPECT_THROW(plan_cores(device, file, {}), BudgetError);
  EXPECT_TRUE(same(core_numbers(acc::AccGraph(device, whole, {.simple = true})).cores, oracle_cores(whole)));
}

TEST(AccOptionsTest, OfAGpuAreRefusedOnTheHost) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = stat::make_graph(2, {{0, 1}}, false);
  const acc::AccGraph on_device(device, graph, {.in_edges = true});

  EXPECT_THROW(bfs(on_device, 0, {.filter = acc::AccFilter::ballot}), UsageError);
  EXPECT_THROW(bfs(on_device, 0, {.fusion = acc::AccFusion::none}), UsageError);
  EXPECT_THROW(sssp(on_device, 0, 0, {.direction = acc::AccDirection::pull}), UsageError);
}

}  // namespace
}  // namespace sluice::test
