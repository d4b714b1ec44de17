// The solvers on real graphs, read through the converter.
#include <gtest/gtest.h>

#include <algorithm>

#include "acc/oracle.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "io/real_graphs.hpp"

namespace sluice::test {
namespace {

/// The sets of the oracles take seconds beyond this size.
constexpr std::uint64_t kMostEdges = 150'000;

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void expect_as_in_oracles(const Graph& graph) {
  const Device device({DeviceChoice::host, 2, 0});
  const Vertex source = static_cast<Vertex>(graph.vertices() / 3);
  const acc::AccGraph search(device, graph, {.in_edges = true, .weights = true});
  const acc::BfsResult found = bfs(search, source);
  const OracleSearch expected = oracle_bfs(graph, source);
  EXPECT_TRUE(same(found.depths, expected.depths));
  EXPECT_TRUE(same(found.parents, expected.parents));
  EXPECT_TRUE(same(sssp(search, source).distances, oracle_distances(graph, source)));
  EXPECT_TRUE(same(core_numbers(acc::AccGraph(device, graph, {.simple = true})).cores, oracle_cores(graph)));
  EXPECT_TRUE(same(components(search).components, oracle_components(graph)));
}

TEST(RealGraphs, AreSolvedAsByPlainCode) {
  const auto rule = [](io::ConvertOptions& rules, int i) {
    rules.reverse = i % 2 == 0, rules.undirected = i % 3 == 0;
    rules.weights = io::WeightRule::uniform;
  };
  for_each_real_graph(kMostEdges, 30, rule, [](const Graph& graph) {
    if (graph.vertices() > 0) expect_as_in_oracles(graph);
  });
}

}  // namespace
}  // namespace sluice::test
