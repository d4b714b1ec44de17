// Ranks each own a part of the lists, and request the others'. Queries give the results of one process with
// the graph, bit for bit.
#include <gtest/gtest.h>

#include "engine/ppr/evaluate.hpp"
#include "io/graph_file/graph_file.hpp"
#include "ppr/on_ranks.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {
namespace {

KeptRows alone(const Graph& graph, const Starts& starts, const ppr::Options& options) {
  const Device device({DeviceChoice::host, 2, 0});
  KeptRows rows;
  run_ppr(device, graph, starts, options, rows);
  return rows;
}

TEST(PprShard, ChangesNoBit) {
  std::vector<ppr::Options> methods = group_methods();
  for (const ppr::Options& options : one_by_one_methods()) methods.push_back(options);
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::uniform);
  const Starts starts = starts_of(queries_of(graph));
  for (std::size_t i = 0; i < methods.size(); ++i) {
    SCOPED_TRACE(i);
    methods[i].weighted = i % 2 == 0;
    const KeptRows expected = alone(graph, starts, methods[i]);
    for (const int size : {2, 3}) {
      const OnRanks ran = on_ranks(size, graph, starts, methods[i], {.partitions = size == 3 ? 7u : 0u});
      EXPECT_TRUE(ran.rows == expected) << size;
      EXPECT_GT(ran.asked(), 0u);
    }
  }
}

TEST(PprShard, DiffusesBallsSideBySide) {
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::uniform);
  const Starts starts = starts_of(three_queries_of(graph));  // each needs many rounds
  for (ppr::Options options : one_by_one_methods()) {
    options.weighted = options.stages.size() == 3;
    const KeptRows expected = alone(graph, starts, options);
    for (const std::uint32_t balls : {1u, 4u, 16u}) {
      for (const int size : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << balls << " balls on " << size << " ranks");
        options.balls = balls;
        EXPECT_TRUE(on_ranks(size, graph, starts, options, {.partitions = 5}).rows == expected);
      }
    }
  }
}

/// Lists of hubs exceed what two ranks may send each other in a superstep, and all ranks need them.
TEST(PprShard, LongListsWaitForTheirTurn) {
  constexpr Vertex kHubs = 3, kVertices = 500;
  std::vector<stat::Edge> edges;
  for (Vertex hub = 0; hub < kHubs; ++hub)
    for (Vertex v = kHubs; v < kVertices; ++v) edges.push_back({200 * hub, v, 1});
  const Graph graph = stat::make_undirected(kVertices, edges, true);
  std::vector<WeightedSeeds> queries;
  for (Vertex seed = 0; seed < 32; ++seed) queries.push_back({{15 * seed + 1, 1}});
  ppr::Options options;
  options.length = 4;
  options.weighted = true;
  const Starts starts = starts_of(queries);
  const KeptRows expected = alone(graph, starts, options);

  const OnRanks ran = on_ranks(16, graph, starts, options);

  EXPECT_TRUE(ran.rows == expected);
  // In each superstep a rank receives one remote hub's list.
  for (const ppr::Stats& stats : ran.stats) EXPECT_GT(stats.traffic.list_rounds, kHubs + options.length);
}

/// Memory holds neither several balls nor several queries at once.
TEST(PprShard, HasFewerBallsWhereMemoryIsShort) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::none);
  const Starts starts = starts_of({{{17, 1}}, {{5, 1}}, {{40, 1}}});
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.one_by_one = true;
  options.expand = 0.05;
  options.balls = 16;
  const KeptRows expected = alone(graph, starts, options);
  std::uint64_t restarts = 0;
  for (const std::uint64_t memory : {384u << 10, 512u << 10, 2u << 20}) {
    const OnRanks ran = on_ranks(2, graph, starts, options, {.partitions = 8}, memory);

    EXPECT_TRUE(ran.rows == expected);
    EXPECT_LE(ran.peak, memory);
    for (const ppr::Stats& stats : ran.stats) restarts += stats.traffic.restarts;
  }
  EXPECT_GT(restarts, 0u);
}

TEST(PprShard, ReadsOwnListsFromTheFile) {
  const TemporaryFolder folder;
  io::write_graph(folder / "graph.h5", generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform),
                  true);
  const Graph in_memory = io::read_graph(folder / "graph.h5"), in_file = io::open_graph(folder / "graph.h5");
  const Starts starts = starts_of(queries_of(in_memory));
  ppr::Options options;
  options.length = 4;
  options.weighted = true;
  const KeptRows expected = alone(in_memory, starts, options);
  for (const Transport transport : {Transport::automatic, Transport::file}) {
    const OnRanks ran = on_ranks(3, in_file, starts, options, {.partitions = 5, .transport = transport});
    EXPECT_TRUE(ran.rows == expected);
    for (const ppr::Stats& stats : ran.stats) {
      EXPECT_GT(stats.traffic.read_bytes, 0u);
      EXPECT_LE(stats.traffic.read_bytes, in_file.edges() * 8 / 2);  // at most its own part, once
    }
  }
}

TEST(PprShard, MayOwnNoVertexOrNoEdgeAndHaveNoQuery) {
  ppr::Options options;
  options.tolerance = 1e-5;
  options.weighted = true;
  for (const auto& [name, graph] : rank_graphs()) {
    if (graph.vertices() > 100) continue;
    SCOPED_TRACE(name);
    for (const auto& queries : {queries_of(graph), std::vector<WeightedSeeds>{{{0, 1}}}}) {
      for (const ppr::Dangling dangling : {ppr::Dangling::seed, ppr::Dangling::uniform}) {
        options.dangling = dangling;
        const Starts starts = starts_of(queries);
        EXPECT_TRUE(on_ranks(4, graph, starts, options).rows == alone(graph, starts, options));
      }
    }
  }
}

/// Sums over the queries of all ranks: their number, and both precisions against both reference lists.
std::vector<double> evaluated_on(int size, const Graph& graph, const Starts& starts,
                                 const ppr::Options& options, std::uint64_t memory = 0) {
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(size));
  const OnRanks ran =
      on_ranks(size, graph, starts, options, {}, memory,
               [&](std::size_t at, const Device& device, const ppr::Options& own, KeptRows& rows,
                   PagingOptions paging) {
                 if (size > 1)
                   paging.partitions = 4;
                 else
                   paging.shard = nullptr;
                 ppr::Evaluator evaluator(device, graph, starts, own, rows, paging);
                 const ppr::Stats stats = run_ppr(device, graph, starts, own, evaluator, paging);
                 const ppr::Precision &truncated = evaluator.truncated(), &limit = evaluator.limit();
                 sums[at] = {static_cast<double>(evaluator.queries()), truncated.strict, truncated.of_scored,
                             limit.strict, limit.of_scored};
                 return stats;
               });
  std::vector<double> all(5);
  for (const std::vector<double>& own : sums)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += own[i];
  EXPECT_EQ(ran.asked() > 0, size > 1);
  EXPECT_EQ(ran.stats[0].batches > 1, memory != 0);
  return all;
}

TEST(PprShard, EvaluatesAsOneProcess) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform);
  std::vector<WeightedSeeds> queries;
  for (Vertex v = 0; v < 50; ++v) queries.push_back({{v, 1}, {2 * v + 1, 2}});
  ppr::Options options;
  options.top = 200;
  options.alpha = 0.5;  // the limit needs fewer supersteps
  for (const ppr::Method method : {ppr::Method::staged, ppr::Method::push}) {
    options.method = method;
    options.weighted = method == ppr::Method::push;
    options.residual_threshold = method == ppr::Method::push ? 1e-4 : 0;
    SCOPED_TRACE(static_cast<int>(method));
    const Starts starts = starts_of(queries);
    const std::vector<double> alone = evaluated_on(1, graph, starts, options);
    EXPECT_EQ(alone[0], 50);
    EXPECT_GT(alone[3], 0.5 * alone[0]);
    EXPECT_LT(alone[3], alone[0]);
    const bool in_batches = method == ppr::Method::push;
    EXPECT_EQ(evaluated_on(in_batches ? 2 : 3, graph, starts, options, in_batches ? 1u << 18 : 0), alone);
  }
}

TEST(PprShard, EvaluatesWhereARankHasNoQuery) {
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::none);
  ppr::Options options;
  options.top = 10;
  options.length = 3;
  options.alpha = 0.5;
  const Starts starts = starts_of({{{1, 1}}, {{2, 1}}});
  const std::vector<double> alone = evaluated_on(1, graph, starts, options);
  EXPECT_EQ(alone[1], 2);  // the lists are those of GD(3)
  EXPECT_EQ(evaluated_on(4, graph, starts, options), alone);
}

/// Lists that are sent are in host memory, so little device memory adds no rounds to a query.
TEST(PprShard, BringsAStepsListsInOneRound) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  const Starts starts = starts_of({{{2, 1}}, {{2, 1}}});
  ppr::Options options;
  options.length = 6;

  const OnRanks ran = on_ranks(2, graph, starts, options, {}, 170000);

  EXPECT_TRUE(ran.rows == alone(graph, starts, options));
  for (const ppr::Stats& stats : ran.stats) EXPECT_LE(stats.traffic.list_rounds, 7u);
  EXPECT_GE(ran.stats[0].traffic.rounds, 6u);
}

/// With little host memory, two ranks send each other few lists at once.
TEST(PprShard, StaysWithinTheHostMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  const Starts starts = starts_of({{{2, 1}}, {{2, 1}}});
  ppr::Options options;
  options.length = 4;
  const KeptRows expected = alone(graph, starts, options);
  MemoryBudget& host = host_budget();
  const std::uint64_t ceiling = host.ceiling();
  host.set_ceiling(host.used() + (1u << 20));

  const OnRanks ran = on_ranks(2, graph, starts, options);

  host.set_ceiling(ceiling);
  EXPECT_TRUE(ran.rows == expected);
  for (const ppr::Stats& stats : ran.stats) EXPECT_GT(stats.traffic.list_rounds, 5u);
}

/// Memory does not hold several queries.
TEST(PprShard, StaysWithinTheDeviceMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  std::vector<WeightedSeeds> queries;
  for (Vertex v = 0; v < 60; ++v) queries.push_back({{v, 1}});
  const Starts starts = starts_of(queries);
  ppr::Options options;
  options.length = 4;

  const OnRanks ran = on_ranks(2, graph, starts, options, {.partitions = 8}, 1u << 20);

  EXPECT_TRUE(ran.rows == alone(graph, starts, options));
  EXPECT_LE(ran.peak, 1u << 20);
}

}  // namespace
}  // namespace sluice::test
