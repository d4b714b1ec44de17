// The ACC engine on ranks and in partitions (engine/acc/rounds) with the host's executor, compared with plain
// code. Runs in one process and on ranks that are threads.
#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "engine/acc/programs/bfs.hpp"
#include "engine/acc/programs/kcore.hpp"
#include "engine/acc/programs/sssp.hpp"
#include "engine/acc/programs/wcc.hpp"
#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

template <class State>
struct Run {
  std::vector<State> states;
  acc::AccStats stats;
};

template <class Program>
Run<typename Program::State> run_partitioned(const acc::AccGraph& graph, const Program& program,
                                             const acc::AccOptions& options = {}) {
  Run<typename Program::State> run;
  if (graph.vertices() == 0) return run;
  const auto solver = acc::make_solver<Program, HostTraverser, Partitioned>(graph, program, options);
  solver->run(run.stats);
  solver->finish(run.stats);
  run.states.assign(solver->states(), solver->states() + graph.vertices());
  return run;
}

constexpr acc::AccDirection kDirections[] = {acc::AccDirection::automatic, acc::AccDirection::push,
                                             acc::AccDirection::pull};

/// Runs a program in each direction that the graph allows. All rounds pull if they must, and none if they
/// must not. Calls `check(states)` for each run.
template <class Program, class Check>
void run_directions(const acc::AccGraph& graph, const Program& program, const Check& check) {
  for (const acc::AccDirection direction : kDirections) {
    if (direction == acc::AccDirection::pull && graph.vertices() > 0 && !graph.has_in_edges()) {
      EXPECT_THROW(run_partitioned(graph, program, {.direction = direction}), UsageError);
      continue;
    }
    const auto run = run_partitioned(graph, program, {.direction = direction});
    if (direction != acc::AccDirection::automatic) {
      EXPECT_EQ(run.stats.pulls, direction == acc::AccDirection::pull ? run.stats.rounds : 0);
    }
    check(run.states);
  }
}

void compare_searches(const Graph& graph, const acc::AccGraph& on_device, Vertex source) {
  const OracleSearch expected = oracle_bfs(graph, source);
  for (const acc::AccDirection direction : kDirections) {
    if (direction == acc::AccDirection::pull && !on_device.has_in_edges()) continue;
    const auto search = run_partitioned(on_device, acc::BreadthFirst{source}, {.direction = direction});
    for (std::size_t v = 0; v < graph.vertices(); ++v) {
      ASSERT_EQ(static_cast<std::int32_t>(acc::BreadthFirst::depth(search.states[v])), expected.depths[v]);
      ASSERT_EQ(acc::BreadthFirst::parent(search.states[v]), expected.parents[v]);
    }
  }
  const auto distances = oracle_distances(graph, source);
  for (const double per_delta : {1e3, 1e-9}) {
    run_directions(on_device, acc::ShortestPaths{source, per_delta}, [&](const auto& states) {
      for (std::size_t v = 0; v < graph.vertices(); ++v)
        ASSERT_EQ(acc::ShortestPaths::distance(states[v]), distances[v]);
    });
  }
}

/// The value that a vertex sends depends on its state.
struct UnequalCores : acc::CoreNumbers {
  static constexpr bool kReadsState = true, kFalls = false;

  SLUICE_HD State compute(const acc::AccEdge<State>& edge) const { return edge.state() % 3 == 0 ? 2 : 1; }
};

void compare_all(const Device& device, const Graph& graph, const acc::AccPlace& place, std::size_t stride) {
  const acc::AccGraph plain(device, graph, {.in_edges = true, .weights = true}, place);
  const std::vector<Vertex> sources = some_sources(graph);
  for (std::size_t i = 0; i < sources.size(); i += stride) compare_searches(graph, plain, sources[i]);
  if (!graph.directed) {
    const acc::AccNeeds needs{.in_edges = true, .simple = true};
    const acc::AccGraph simple(device, graph, needs, place);
    const auto cores = oracle_cores(graph);
    run_directions(simple, acc::CoreNumbers{},
                   [&](const auto& states) { EXPECT_TRUE(std::ranges::equal(states, cores)); });
    const auto whole = acc::run_acc(acc::AccGraph(device, graph, needs), UnequalCores{},
                                    {.direction = acc::AccDirection::push});
    run_directions(simple, UnequalCores{},
                   [&](const auto& states) { EXPECT_TRUE(std::ranges::equal(states, whole.states)); });
  }
  const auto expected_components = oracle_components(graph);
  EXPECT_TRUE(std::ranges::equal(run_partitioned(plain, acc::Components{}).states, expected_components));
}

class PartitionedAcc : public testing::TestWithParam<unsigned> {};

TEST_P(PartitionedAcc, FindsInPartitionsWhatIsThere) {
  const Device device({DeviceChoice::host, GetParam(), 0});
  for (const auto& [name, graph] : acc_graphs()) {
    SCOPED_TRACE(name);
    compare_all(device, graph, {.paging = {.partitions = 6, .slots = 2, .transport = Transport::copied}}, 2);
    compare_all(device, graph, {.paging = {.partitions = 40, .transport = Transport::mapped}}, 3);
  }
}

TEST_P(PartitionedAcc, FindsOnRanksWhatIsThere) {
  const std::vector<NamedGraph> graphs = acc_graphs();
  for (const int size : {2, 3}) {
    Meeting::run(size, [&](int rank, Meeting& meeting) {
      const Device device({DeviceChoice::host, GetParam(), 0});
      ThreadCommunicator ranks(rank, meeting);
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        SCOPED_TRACE(graphs[i].name);
        acc::AccPlace place{.ranks = &ranks};
        if (i % 2 == 1) place.paging = {.partitions = 3, .slots = 2};
        compare_all(device, graphs[i].graph, place, 4);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PartitionedAcc, testing::Values(1u, 3u));

TEST(Partitions, WithoutActiveVerticesAreNeverBrought) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph directed = stretches(true), both_ways = stretches(false);
  const acc::AccPlace place{.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}};
  const acc::AccGraph search(device, directed, {.weights = true}, place);
  const acc::AccGraph simple(device, both_ways, {.simple = true}, place);

  const acc::AccStats one = run_partitioned(search, acc::BreadthFirst{230}).stats,
                      last = run_partitioned(search, acc::BreadthFirst{399}).stats,
                      far = run_partitioned(search, acc::ShortestPaths{110, 1}).stats,
                      none = run_partitioned(simple, acc::CoreNumbers{.max_level = 0}).stats,
                      merged = run_partitioned(search, acc::Components{}).stats;

  EXPECT_EQ(one.partition_transfers, 1u);
  EXPECT_EQ(one.rounds, 70u);
  EXPECT_EQ(one.edges, 69u);
  EXPECT_EQ(last.partition_transfers, 0u);
  EXPECT_EQ(far.partition_transfers, 1u);
  EXPECT_EQ(none.partition_transfers, 0u);  // a vertex without neighbours reads no list
  EXPECT_EQ(merged.partition_transfers, 4u);
}

/// Each rank owns a path. An edge joins inner vertices, and either rank alone would skip it for its own tree.
TEST(Partitions, AreSparedForATreeThatAllRanksHave) {
  constexpr Vertex kPath = 400, kInner = 151;
  std::vector<stat::Edge> edges{{kInner, kPath + kInner}};
  for (Vertex v = 0; v + 1 < 2 * kPath; ++v)
    if (v + 1 != kPath) edges.push_back({v, v + 1});
  const Graph graph = stat::make_undirected(2 * kPath, edges, false);
  const PagingOptions paging{.partitions = 4, .transport = Transport::mapped};
  Meeting::run(2, [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 1, 0});
    ThreadCommunicator ranks(rank, meeting);
    const acc::AccGraph shared(device, graph, {}, {.paging = paging, .ranks = &ranks});

    const auto result = run_partitioned(shared, acc::Components{});

    EXPECT_EQ(std::ranges::count(result.states, Vertex{0}), 2 * kPath);
  });
}

/// Ranks skip edges even if no vertex is in the lists of all ranks.
TEST(Partitions, OnRanksAreSparedWithoutHubs) {
  const Graph graph = generated(io::GraphKind::grid, 14, true, io::WeightRule::none);
  const PagingOptions paging{.partitions = 16, .transport = Transport::mapped};
  Meeting::run(2, [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 1, 0});
    ThreadCommunicator ranks(rank, meeting);
    const acc::AccGraph shared(device, graph, {}, {.paging = paging, .ranks = &ranks});

    EXPECT_LT(run_partitioned(shared, acc::Components{}).stats.edges, graph.edges() / 5 * 4);
  });
}

TEST(Partitions, OfTheTreeThatHoldsAHubAreSpared) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = hub_with_rim();
  const acc::AccPlace place{.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}};

  const auto result = run_partitioned(acc::AccGraph(device, graph, {}, place), acc::Components{});

  EXPECT_TRUE(std::ranges::equal(result.states, oracle_components(graph)));
  EXPECT_EQ(result.stats.partition_transfers, 1u);
}

}  // namespace
}  // namespace sluice::test
