// Personalized PageRank on a GPU gives the host's lists, scores and figures, bit for bit.
#include "engine/ppr/ppr.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/ppr/evaluate.hpp"
#include "gpu/ppr.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {
namespace {

TEST_F(GpuPpr, AnswersAsTheHostOnHardGraphs) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : in_tables(group_methods())) {
      for (const bool weighted : {false, true}) {
        if (brief() && turn++ % 24 != 0) continue;
        options.weighted = weighted;
        compare(*gpu_, graph, starts_of(queries_of(graph)), options);
      }
    }
  }
}

TEST_F(GpuPpr, AnswersAsTheHostInTablesThatHash) {
  // In a directed graph, vertices without out-edges return their mass to the seeds.
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::uniform);
  std::vector<WeightedSeeds> queries = queries_of(graph);
  queries.push_back({{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  if (brief()) queries = {queries[3], queries.back()};
  Asked all;
  for (ppr::Options options : watched(in_tables(group_methods()), 1, 5)) {
    options.weighted = true;
    const Asked some = asked(compare(*gpu_, graph, starts_of(queries), options), graph, options);
    all.once += some.once, all.again += some.again;
  }
  EXPECT_GT(all.once, 0u);
  EXPECT_GT(all.again, 0u);
}

TEST_F(GpuPpr, AsksAgainWhereQueriesReachMoreThanTheirWorkspace) {
  const Graph graph = generated(io::GraphKind::kronecker, brief() ? 13 : 16, true, io::WeightRule::uniform);
  ppr::Options options;
  options.state = ppr::State::sparse;
  options.last_instance = at_most(1000, 3);
  options.weighted = true;
  for (const std::uint32_t length : {2u, 3u, 5u}) {
    options.length = length;
    const KeptRows found = compare(*gpu_, graph, Starts{}, options);
    EXPECT_GT(asked(found, graph, options).again, 0u) << length;
  }
  options.length = 0;
  options.weighted = false;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-6;
  EXPECT_GT(asked(compare(*gpu_, graph, Starts{}, options), graph, options).again, 0u);
  options.method = ppr::Method::staged;
  options.residual_threshold = 0;
  EXPECT_GT(asked(compare(*gpu_, graph, Starts{}, options), graph, options).again, 0u);
}

TEST_F(GpuPpr, ReachesAllVerticesFromThoseWithoutOutEdges) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::sparse;
  options.dangling = ppr::Dangling::uniform;
  options.length = 3;
  options.last_instance = at_most(100, 2);
  const KeptRows found = compare(*gpu_, graph, Starts{}, options);
  EXPECT_GT(asked(found, graph, options).again, 0u);
  EXPECT_TRUE(std::any_of(found.figures.begin(), found.figures.end(), [&](const ppr::QueryFigures& figures) {
    return figures.reached == graph.vertices();
  }));
}

TEST_F(GpuPpr, ListsAsManyAsAreAskedFor) {
  const Graph graph = generated(io::GraphKind::kronecker, brief() ? 9 : 12, true, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::sparse;
  options.tolerance = 1e-4;
  options.last_instance = at_most(20, 1);
  for (const std::uint32_t top : {1u, 512u, 513u, 3000u, 10000u}) {
    options.top = top;
    compare(*gpu_, graph, Starts{}, options);
  }
}

TEST_F(GpuPpr, WorksInBatchesAndFewWorkspacesWhereMemoryIsShort) {
  const Graph graph = generated(io::GraphKind::rmat, 14, false, io::WeightRule::none);
  const auto small = open_gpu(3u << 20);
  ppr::Options options;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-5;
  options.last_instance = at_most(2000, 5);
  compare(*small, graph, Starts{}, options);

  const auto tiny = open_gpu(1u << 18);
  EXPECT_THROW(ran(*tiny, graph, Starts{}, options), BudgetError);
}

TEST_F(GpuPpr, ReadsListsInPlace) {
  std::size_t turn = 0;
  std::vector<ppr::Options> methods = group_methods();
  for (const ppr::Options& options : one_by_one_methods()) methods.push_back(options);
  for (const bool undirected : {false, true}) {
    const Graph graph = generated(io::GraphKind::rmat, 10, undirected, io::WeightRule::uniform);
    for (ppr::Options options : methods) {
      if (brief() && turn % 24 != 0) continue;
      options.weighted = turn++ % 2 == 0;
      compare(*gpu_, graph, starts_of(queries_of(graph)), options, {.transport = Transport::mapped});
    }
  }
}

/// A query whose seed has no out-edges uses at most the planned bytes, and runs in exactly that memory.
TEST_F(GpuPpr, PlansThePeakOfTheSmallestQuery) {
  constexpr std::uint64_t kSeeds = 64;
  const auto make = [] { return generated(io::GraphKind::rmat, 12, false, io::WeightRule::uniform); };
  const Graph graph = make(), in_file = elsewhere(make());
  Vertex lone = 0;
  while (graph.out.offsets[lone] != graph.out.offsets[lone + 1]) ++lone;
  const Starts starts = starts_of({{{lone, 1}}});
  ppr::Options options;
  options.length = 2;
  options.state = ppr::State::sparse;
  for (const bool weighted : {false, true}) {
    options.weighted = weighted;
    for (const Transport transport : {Transport::automatic, Transport::mapped}) {
      const PagingOptions paging{.transport = transport};
      const std::uint64_t smallest = plan_ppr(*gpu_, graph, starts, options, paging).smallest_bytes;
      const auto ample = open_gpu(), small = open_gpu(smallest + kSeeds);
      ran(*ample, graph, starts, options, paging);
      EXPECT_GE(smallest + kSeeds, ample->memory().peak());
      EXPECT_LE(smallest, ample->memory().peak());
      compare(*small, graph, starts, options, paging);
    }
    const PagingOptions copied{.transport = Transport::copied};
    const auto least = open_gpu(plan_ppr(*gpu_, graph, starts, options, copied).smallest_bytes + kSeeds);
    compare(*least, graph, starts, options, copied);
    EXPECT_LE(least->memory().peak(), least->memory().ceiling());
    const ppr::Plan streamed = plan_ppr(*gpu_, in_file, starts, options);
    EXPECT_TRUE(streamed.streamed);
    const auto small = open_gpu(streamed.smallest_bytes + kSeeds);
    compare(*small, in_file, starts, options);
    EXPECT_LE(streamed.smallest_bytes - kSeeds, small->memory().peak());
  }
}

TEST_F(GpuPpr, ReadsListsInPlaceWhereTheyDoNotFit) {
  const Graph graph = generated(io::GraphKind::kronecker, 14, true, io::WeightRule::uniform);
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + sizeof(float));
  const auto small = open_gpu(edges / 2);
  ppr::Options options;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-5;
  options.weighted = true;
  options.last_instance = at_most(2000, 5);
  KeptRows rows;
  const ppr::Stats stats = run_ppr(*small, graph, Starts{}, options, rows);

  EXPECT_TRUE(rows == ran(host_, graph, Starts{}, options).rows);
  EXPECT_EQ(stats.mapped_bytes, stats.edges * 8);
  EXPECT_LT(stats.traffic.host_to_device_bytes, edges / 4);
  EXPECT_LE(small->memory().peak(), edges / 2);
  EXPECT_THROW(ran(*small, graph, Starts{}, options, {.partitions = 1}), BudgetError);
}

TEST_F(GpuPpr, EvaluatesWhereMemoryIsShort) {
  // Memory holds three graphs and the workspaces of one of the three runs, which uses all memory that is
  // free.
  const Graph graph = generated(io::GraphKind::rmat, brief() ? 9 : 14, false, io::WeightRule::none);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.last_instance = at_most(40, 1);
  const auto strict_on = [&](const Device& device) {
    KeptRows rows;
    const Starts starts;
    ppr::Evaluator evaluator(device, graph, starts, options, rows);
    run_ppr(device, graph, starts, options, evaluator);
    EXPECT_EQ(evaluator.queries(), rows.seeds.size());
    return std::pair(evaluator.truncated().strict, evaluator.limit().strict);
  };
  const auto small = open_gpu(16u << 20);
  EXPECT_EQ(strict_on(*small), strict_on(host_));
}

TEST_F(GpuPpr, EvaluatesOnOneCopyOfTheGraph) {
  const Graph graph = generated(io::GraphKind::kronecker, 14, true, io::WeightRule::none);
  const std::uint64_t edges = graph.edges() * sizeof(Vertex);
  ppr::Options options;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-4;
  options.top = 20;
  options.last_instance = at_most(20, 1);
  const Starts starts;
  const auto strict_on = [&](const Device& device, const PagingOptions& paging, bool in_place) {
    KeptRows rows;
    ppr::Evaluator evaluator(device, graph, starts, options, rows, paging);
    const ppr::Stats stats = run_ppr(device, graph, starts, options, evaluator, paging);
    EXPECT_EQ(stats.mapped_bytes != 0, in_place);
    return evaluator.limit().strict;
  };
  const double expected = strict_on(host_, {}, false);
  const auto small = open_gpu(2 * edges);
  EXPECT_EQ(strict_on(*small, {}, false), expected);
  EXPECT_EQ(strict_on(*gpu_, {.transport = Transport::mapped}, true), expected);
  const auto smaller = open_gpu(edges);
  EXPECT_EQ(strict_on(*smaller, {}, true), expected);
}

}  // namespace
}  // namespace sluice::test
