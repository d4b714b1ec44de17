// A set of edges answers as lists do: for whole graphs, for ranges of vertices, and with overflowing buckets.
#include "engine/memory/tables/edge_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/memory/resident_impl.hpp"
#include "statistical/graphs.hpp"

namespace sluice {
namespace {

const Device& host() {
  static const Device device({DeviceChoice::host, 4});
  return device;
}

/// A random graph with duplicate edges and self-loops.
Graph random_graph(std::uint64_t vertices, std::size_t edges, bool directed) {
  std::mt19937 random(7);
  std::vector<stat::Edge> some;
  for (std::size_t i = 0; i < edges; ++i)
    some.push_back({static_cast<Vertex>(random() % vertices), static_cast<Vertex>(random() % vertices)});
  some.insert(some.end(), {some[0], some[1], {5, 5}});
  return directed ? stat::make_graph(vertices, std::move(some), false)
                  : stat::make_undirected(vertices, std::move(some), false);
}

GraphView view_of(const Graph& graph) {
  return {graph.out.view(), nullptr, !graph.directed};
}

/// The number of pairs that a set cannot answer; expects all other answers to equal those of lists.
std::uint64_t unknown(const Graph& graph, const EdgeSet& set) {
  const GraphView view = view_of(graph);
  std::uint64_t absent = 0;
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      const Answer answer = set.has_edge(u, v);
      absent += answer == Answer::unknown;
      if (answer == Answer::unknown) continue;
      EXPECT_EQ(answer == Answer::yes, view.has_edge(u, v)) << u << " " << v;
    }
  }
  return absent;
}

class EdgeSetInMemoryOf : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Graphs, EdgeSetInMemoryOf, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "directed" : "undirected"; });

TEST_P(EdgeSetInMemoryOf, SaysWhatListsSay) {
  const Graph graph = random_graph(400, 6000, GetParam());
  ResidentGraph resident(host(), graph);

  const auto set = EdgeSetInMemory::of_whole(resident.impl());

  // About one bucket in fifty has overflowed, and cannot answer for vertices without a tag in it.
  EXPECT_LT(unknown(graph, set.view()), 400 * 400 / 20);
  EXPECT_EQ(set.bytes(), EdgeSet::of(view_of(graph), 0, 400).bytes());
}

TEST_P(EdgeSetInMemoryOf, OfSomeListsKnowsThese) {
  const Graph graph = random_graph(300, 4000, GetParam());
  const EdgeSet shape = EdgeSet::of(view_of(graph), 100, 180);
  EdgeSetInMemory some(host(), shape);
  some.add(view_of(graph), {100, 150});
  some.add(view_of(graph), {150, 180});

  const std::uint64_t absent = unknown(graph, some.view());

  const std::uint64_t others = GetParam() ? 300 - 80 : (300 - 80) * (300 - 80) / 300;
  EXPECT_GE(absent, others * 300);
  EXPECT_LT(absent, others * 300 + 300 * 300 / 20);
}

TEST_P(EdgeSetInMemoryOf, LeavesFullBucketsToLists) {
  const Graph graph = random_graph(100, 1500, GetParam());
  EdgeSet shape = EdgeSet::of(view_of(graph), 0, 100);
  shape.size /= 8;
  EdgeSetInMemory full(host(), shape);
  full.add(view_of(graph));

  const std::uint64_t absent = unknown(graph, full.view());

  EXPECT_GT(absent, 100 * 100 / 4);
  EXPECT_LT(absent, 100u * 100);
}

TEST(EdgeSetInMemory, IsChargedToTheBudget) {
  const Graph graph = random_graph(400, 6000, true);
  const EdgeSet shape = EdgeSet::of(view_of(graph), 0, 400);
  const Device small({DeviceChoice::host, 1, shape.bytes()}),
      smaller({DeviceChoice::host, 1, shape.bytes() - 1});

  EXPECT_NO_THROW(EdgeSetInMemory(small, shape));
  EXPECT_THROW(EdgeSetInMemory(smaller, shape), BudgetError);
}

}  // namespace
}  // namespace sluice
