// The part of each rank in acc_test.cpp, which starts this program on several ranks. Every program runs on
// hard graphs, of which the ranks own parts, and is compared with plain code.
#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice::test {
namespace {

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class AccOnRanks : public testing::Test {
 protected:
  static Communicator& ranks() {
    static const auto all = make_mpi();
    return *all;
  }
  // Four ranks share the cores, so more threads would only wait for each other. acc/acc_test.cpp tests
  // several threads.
  const Device device_{{DeviceChoice::host, 1, 0}};
};

TEST_F(AccOnRanks, FindWhatOneProcessFinds) {
  const std::vector<NamedGraph> graphs = acc_graphs();
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const auto& [name, graph] = graphs[i];
    SCOPED_TRACE(name);
    acc::AccPlace place{.ranks = &ranks()};
    if (i % 2 == 1) place.paging = {.partitions = 3, .slots = 2};
    const acc::AccGraph search(device_, graph, {.in_edges = true, .weights = true}, place);
    const std::vector<Vertex> sources = some_sources(graph);
    for (std::size_t j = 0; j < sources.size(); j += 3) {  // each round waits until all ranks had a core
      const Vertex source = sources[j];
      const OracleSearch expected = oracle_bfs(graph, source);
      for (const acc::AccDirection direction :
           {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
        const acc::AccOptions options{.direction = direction};
        if (direction == acc::AccDirection::pull && !search.has_in_edges()) {
          EXPECT_THROW(bfs(search, source, options), UsageError);
          EXPECT_THROW(sssp(search, source, 0, options), UsageError);
          continue;
        }
        const acc::BfsResult found = bfs(search, source, options);
        EXPECT_TRUE(same(found.depths, expected.depths));
        EXPECT_TRUE(same(found.parents, expected.parents));
        EXPECT_TRUE(same(sssp(search, source, 0, options).distances, oracle_distances(graph, source)));
      }
    }
    if (graph.directed) {
      EXPECT_THROW(acc::AccGraph(device_, graph, {.simple = true}, place), UsageError);
    } else {
      const acc::AccGraph simple(device_, graph, {.in_edges = true, .simple = true}, place);
      for (const acc::AccDirection direction :
           {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull})
        EXPECT_TRUE(same(core_numbers(simple, 0, {.direction = direction}).cores, oracle_cores(graph)));
    }
    EXPECT_TRUE(same(components(search).components, oracle_components(graph)));
  }
}

/// Consecutive vertices of the path belong to different ranks, so nearly every round crosses between ranks.
TEST_F(AccOnRanks, CountRoundsOnce) {
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v < 50; ++v) path.push_back({v * 19 % 51, (v + 1) * 19 % 51, 1});
  const Graph graph = stat::make_graph(51, path, true);
  const acc::AccGraph search(device_, graph, {}, {.ranks = &ranks()});

  const acc::AccStats stats = bfs(search, 0).stats;

  EXPECT_EQ(stats.rounds, 51u);
  EXPECT_EQ(stats.edges, 50u);
  EXPECT_EQ(stats.trace.size(), 51u);
  EXPECT_EQ(stats.trace[17].active, 1u);
}

}  // namespace
}  // namespace sluice::test
