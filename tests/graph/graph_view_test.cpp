// Rows, searches and weights of a graph as samplers use them.
#include "engine/graph/graph_view.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "statistical/graphs.hpp"

namespace sluice {
namespace {

GraphView view_of(const Graph& graph) {
  return {{graph.vertices(), graph.edges(), graph.out.offsets.data(), graph.out.targets.data(), nullptr}};
}

TEST(GraphView, RowIsWhereTheListLies) {
  const Graph graph = stat::make_graph(4, {{0, 1}, {0, 3}, {2, 0}}, false);
  const GraphView view = view_of(graph);

  EXPECT_EQ(view.row(0).offset, 0u);
  EXPECT_EQ(view.row(0).degree, 2u);
  EXPECT_EQ(view.row(1).offset, 2u);
  EXPECT_EQ(view.degree(1), 0u);
  EXPECT_EQ(view.row(2).offset, 2u);
  EXPECT_EQ(view.target(view.row(2).offset), 0u);
  EXPECT_EQ(view.degree(3), 0u);
}

TEST(GraphView, LowerBoundIsTheFirstEntryNotBelow) {
  const Graph graph = stat::make_graph(10, {{0, 9}, {1, 2}, {1, 4}, {1, 4}, {1, 7}}, false);
  const GraphView view = view_of(graph);
  const std::vector<std::uint32_t> expected{0, 0, 0, 1, 1, 3, 3, 3, 4, 4};

  for (Vertex target = 0; target < 10; ++target)
    EXPECT_EQ(view.lower_bound(view.row(1), target), expected[target]) << target;
  EXPECT_EQ(view.lower_bound(view.row(2), 5), 0u) << "of an empty list";
}

TEST(GraphView, HasTheEdgesOfItsListsAndNoOther) {
  const std::vector<stat::Edge> edges{{0, 1}, {0, 4}, {1, 0}, {3, 3}, {4, 2}};
  const Graph graph = stat::make_graph(5, edges, false);
  const GraphView view = view_of(graph);

  for (Vertex u = 0; u < 5; ++u) {
    for (Vertex v = 0; v < 5; ++v) {
      bool expected = false;
      for (const stat::Edge& edge : edges) expected |= edge.from == u && edge.to == v;
      EXPECT_EQ(view.has_edge(u, v), expected) << u << " -> " << v;
    }
  }
}

/// Edges are stored in one direction, so the answer shows which list was searched.
TEST(GraphView, SearchesTheShorterListWhereTheGraphIsUndirected) {
  const Graph graph = stat::make_graph(5, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {4, 0}}, false);
  GraphView view = view_of(graph);
  ASSERT_TRUE(view.has_edge(0, 1));
  ASSERT_FALSE(view.has_edge(0, 4));

  view.undirected = true;

  EXPECT_FALSE(view.has_edge(0, 1)) << "1 has the shorter list, without 0";
  EXPECT_TRUE(view.has_edge(0, 4)) << "4 has the shorter list, with 0";
  EXPECT_TRUE(view.has_edge(1, 4)) << "lists of the same length: that of the first";
}

TEST(GraphView, WeightsAreOneWhereNoneAreStored) {
  const Graph graph = stat::make_graph(3, {{0, 1}, {1, 2}}, false);
  const GraphView view = view_of(graph);

  EXPECT_FALSE(view.weighted());
  EXPECT_EQ(view.weight(1), 1.0f);
  EXPECT_EQ(view.weight_bias({1, 2, 1}), 1u);
}

TEST(GraphView, WeightBiasIsByTheExponentOfTheSourcesList) {
  const Graph graph = stat::make_graph(2, {{0, 1}, {1, 0}}, false);
  const std::vector<float> weights{4.0f, 4.0f};
  const std::vector<std::int16_t> exponents{2, 3};
  GraphView view = view_of(graph);
  view.csr.weights = weights.data(), view.exponents = exponents.data();

  EXPECT_TRUE(view.weighted());
  EXPECT_EQ(view.weight_bias({0, 1, 0}), std::uint64_t{1} << 31);
  EXPECT_EQ(view.weight_bias({1, 0, 1}), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace sluice
