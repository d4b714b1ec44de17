// Queries in dense rows on a GPU give the host's lists, scores and figures, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/ppr/query_rules.hpp"
#include "gpu/gpu.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

class GpuPprDense : public OnGpu {
 protected:
  KeptRows compare(const Device& gpu, const Graph& graph, const Starts& starts, ppr::Options options) {
    KeptRows found = ran(gpu, graph, starts, options).rows;
    options.state = ppr::State::sparse;
    const KeptRows expected = ran(host_, graph, starts, options).rows;
    EXPECT_TRUE(found == expected);
    expect_same_figures(found, expected);
    return found;
  }

  static std::ptrdiff_t side_by_side(const KeptRows& rows, const Graph& graph, std::uint32_t width) {
    const std::uint64_t bytes = ppr::DenseShape{graph.vertices(), width}.query_bytes();
    return std::count_if(rows.figures.begin(), rows.figures.end(),
                         [bytes](const ppr::QueryFigures& figures) { return figures.peak_bytes == bytes; });
  }
};

TEST_F(GpuPprDense, AnswersAsTheHostOnHardGraphs) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (const ppr::Options& options : dense_methods()) {
      if (brief() && turn++ % 12 != 0) continue;
      const std::vector<WeightedSeeds> queries = queries_of(graph);
      const KeptRows found = compare(*gpu_, graph, starts_of(queries), options);
      const auto width = static_cast<std::uint32_t>(std::min<std::size_t>(queries.size(), ppr::kDenseWidth));
      EXPECT_EQ(side_by_side(found, graph, width), static_cast<std::ptrdiff_t>(queries.size()));
    }
  }
}

TEST_F(GpuPprDense, PullsLongRowsByBlocks) {
  for (const bool undirected : {false, true}) {
    const Graph graph =
        generated(io::GraphKind::kronecker, brief() ? 10 : 14, undirected, io::WeightRule::uniform);
    std::vector<WeightedSeeds> queries = queries_of(graph);
    queries.push_back({{4, 1}, {1, 2}, {4, 3}, {3, 4}});
    for (const ppr::Options& options : watched(dense_methods(), undirected ? 1 : 7, 12))
      compare(*gpu_, graph, starts_of(queries), options);
  }
}

TEST_F(GpuPprDense, AnswersManyGroups) {
  const Graph graph = generated(io::GraphKind::rmat, brief() ? 8 : 10, false, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::dense;
  options.length = 5;
  Starts starts;
  starts.mode = Starts::Mode::random;
  for (const Instance count : {1u, 31u, 33u, 64u, 5000u}) {  // a batch has 4096 queries
    starts.count = at_most(count, 70);
    const KeptRows found = compare(*gpu_, graph, starts, options);
    EXPECT_EQ(found.seeds.size(), starts.count);
  }
}

TEST_F(GpuPprDense, ListsTheSmallestIdsAmongEqualScores) {
  // One step from a hub gives thousands of equal scores, more than are sorted together.
  const Vertex leaves = 5000;
  std::vector<stat::Edge> edges;
  for (Vertex v = 1; v <= leaves; ++v) edges.push_back({leaves + 1, v});
  const Graph graph = stat::make_graph(leaves + 2, edges, false, true);
  ppr::Options options;
  options.state = ppr::State::dense;
  for (const std::uint32_t length : {0u, 1u, 3u}) {
    options.length = length;
    for (const std::uint32_t top : {1u, 200u, 512u}) {
      if (brief() && (length != 1 || top != 200)) continue;
      options.top = top;
      compare(*gpu_, graph, starts_of({{{leaves + 1, 1}}, {{0, 1}}, {{7, 1}, {9, 2}}}), options);
    }
  }
}

TEST_F(GpuPprDense, EndsWhereNoMassIsLeft) {
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::dense;
  options.last_instance = at_most(40, 2);
  options.alpha = 0.3;
  options.tolerance = 0;
  compare(*gpu_, graph, Starts{}, options);
  options.length = 5000;
  compare(*gpu_, graph, Starts{}, options);
  options.alpha = 0;
  compare(*gpu_, graph, Starts{}, options);
}

TEST_F(GpuPprDense, BeginsWhereTablesWouldBeAsLarge) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::none);
  const ppr::WorkspaceShape first = ppr::first_workspace(graph.vertices(), {});
  const std::uint64_t row = ppr::DenseShape{graph.vertices()}.query_bytes();
  ASSERT_GT(row, first.bytes());
  ASSERT_LE(row, larger_workspace(first, graph.vertices()).bytes());
  ppr::Options options;
  options.length = 3;
  Starts starts;
  starts.mode = Starts::Mode::random;
  starts.count = at_most(500, 8);
  const KeptRows found = compare(*gpu_, graph, starts, options);
  const auto in_tables = std::count_if(found.figures.begin(), found.figures.end(), [&](const auto& figures) {
    return figures.peak_bytes == first.bytes();
  });
  EXPECT_GT(in_tables, 0);
  EXPECT_LT(in_tables, static_cast<std::ptrdiff_t>(found.figures.size()));
}

TEST_F(GpuPprDense, LeavesTheFirstTableAloneAndReturns) {
  const Graph graph = generated(io::GraphKind::rmat, 16, false, io::WeightRule::none);
  const auto degree = [&](Vertex v) { return graph.out.offsets[v + 1] - graph.out.offsets[v]; };
  Vertex alone = 0, hub = 0;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    if (degree(v) == 0) alone = v;
    if (degree(v) > degree(hub)) hub = v;
  }
  ASSERT_EQ(degree(alone), 0u);
  ppr::Options options;
  options.length = 4;
  const Starts starts = starts_of({{{hub, 1}}, {{alone, 1}}, {{alone, 1}}, {{alone, 1}}, {{hub, 1}}});
  const auto backend = make_ppr_backend(*gpu_, graph, starts, options, {}, 1);
  std::vector<std::uint64_t> bytes;
  for (Instance query = 0; query < 5; ++query)
    bytes.push_back(backend->solve(query, 1).figures[0].peak_bytes);
  const std::uint64_t row = ppr::DenseShape{graph.vertices(), 1}.query_bytes();
  const std::uint64_t workspace = ppr::first_workspace(graph.vertices(), options).bytes();
  EXPECT_EQ(bytes, (std::vector{row, row, workspace, workspace, row}));
}

TEST_F(GpuPprDense, IsNarrowerOrLeftOutWhereMemoryIsShort) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::none);
  ppr::Options options;
  options.last_instance = at_most(100, 4);
  options.length = 2;
  const ppr::DenseShape whole{graph.vertices()};
  const auto small = open_gpu(whole.group_bytes() / 2);
  compare(*small, graph, Starts{}, options);
  EXPECT_LE(small->memory().peak(), whole.group_bytes() / 2);

  // Memory holds the graph, but not its in-edges beside it.
  const auto tiny = open_gpu(2 * graph.edges() * sizeof(Vertex));
  options.state = ppr::State::dense;
  EXPECT_THROW(ran(*tiny, graph, Starts{}, options), BudgetError);
}

TEST_F(GpuPprDense, PlansWhatAQueryTakes) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::none);
  ppr::Options options;
  options.length = 6;
  for (const Instance queries : {1u, 7u, 40u}) {
    options.last_instance = queries;
    options.state = ppr::State::dense;
    const ppr::Plan dense = plan_ppr(*gpu_, graph, Starts{}, options);
    const ppr::Stats in_rows = ran(*gpu_, graph, Starts{}, options).stats;
    EXPECT_EQ(in_rows.peak_query_bytes, dense.largest_query_bytes) << queries;
    EXPECT_GT(dense.rows_bytes, ppr::DenseShape{graph.vertices()}.query_bytes());
    EXPECT_LE(dense.rows_bytes, gpu_->memory().peak());

    options.state = ppr::State::automatic;
    const ppr::Plan either = plan_ppr(*gpu_, graph, Starts{}, options);
    EXPECT_LE(ran(*gpu_, graph, Starts{}, options).stats.peak_query_bytes, either.largest_query_bytes);
    options.state = ppr::State::sparse;
    const ppr::Plan tables = plan_ppr(*gpu_, graph, Starts{}, options);
    EXPECT_LT(either.largest_query_bytes, tables.largest_query_bytes);
    EXPECT_EQ(tables.rows_bytes, 0u);
  }
}

TEST_F(GpuPprDense, SaysWhereItCannot) {
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::dense;
  EXPECT_THROW(ran(*gpu_, graph, Starts{}, options, {.transport = Transport::mapped}), UsageError);
  options.top = ppr::kSharedSortLimit + 1;
  EXPECT_THROW(ran(*gpu_, graph, Starts{}, options), UsageError);
}

}  // namespace
}  // namespace sluice::test
