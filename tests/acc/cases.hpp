// Graphs that are hard for searches, shortest paths or peeling.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "apps/bench/generated_graph.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {

/// The hard graphs of PageRank, and further ones: a long path, a star of stars, a chain of cliques. Others
/// have ties and weights of zero in cycles, parallel edges and self-loops, or stored in-edges.
inline std::vector<NamedGraph> acc_graphs() {
  std::vector<NamedGraph> all = rank_graphs();
  const auto add = [&](std::string name, Graph graph) { all.push_back({std::move(name), std::move(graph)}); };
  std::vector<stat::Edge> path, star, cliques;
  for (Vertex v = 0; v + 1 < 700; ++v) path.push_back({v, v + 1, static_cast<float>(v % 3)});
  for (Vertex v = 1; v < 200; ++v) star.push_back({0, v, 1}), star.push_back({v, 200 + v % 7, 0.5f});
  for (Vertex block = 0; block < 12; ++block) {
    for (Vertex a = 0; a <= block; ++a) {
      for (Vertex b = a + 1; b <= block; ++b) cliques.push_back({16 * block + a, 16 * block + b, 1});
    }
    cliques.push_back({16 * block, 16 * block + 16, 2});
  }
  add("directed path", stat::make_graph(700, path, true));
  add("undirected path", stat::make_undirected(700, path, true));
  add("star of stars", stat::make_undirected(207, star, true));
  add("cliques on a string", stat::make_undirected(200, cliques, true));
  add("ties", stat::make_graph(8,
                               {{0, 3, 1},
                                {0, 2, 1},
                                {0, 1, 1},
                                {3, 4, 1},
                                {2, 4, 1},
                                {1, 4, 1},
                                {4, 5, 0},
                                {5, 4, 0},
                                {5, 6, 2},
                                {0, 6, 4},
                                {7, 0, 1}},
                               true));
  add("cycle of weight zero",
      stat::make_graph(6, {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}, {2, 3, 0.1f}, {3, 4, 0}, {4, 3, 0}, {5, 4, 0}},
                       true));
  add("undirected multigraph",
      stat::make_undirected(
          5, {{0, 1, 3}, {0, 1, 1}, {0, 0, 1}, {1, 2, 1}, {1, 2, 1}, {2, 0, 1}, {3, 3, 1}, {3, 4, 1}}, true));
  add("zoo", stat::zoo());
  add("without vertices", stat::make_graph(0, {}, false));
  add("with in-edges", rank_rmat(false, true));
  return all;
}

/// Four separate paths, each of which is a partition.
inline Graph stretches(bool directed) {
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v < 400; ++v)
    if (v % 100 != 99) path.push_back({v, v + 1, 1});
  return directed ? stat::make_graph(400, path, true) : stat::make_undirected(400, path, true);
}

/// A path, and a vertex that is adjacent to all of it.
inline Graph hub_with_rim() {
  std::vector<stat::Edge> edges;
  for (Vertex v = 1; v < 500; ++v) edges.push_back({0, v, 1});
  for (Vertex v = 1; v + 1 < 500; ++v) edges.push_back({v, v + 1, 1});
  return stat::make_undirected(500, edges, false);
}

/// Source vertices: hubs, leaves, and vertices without out-edges.
inline std::vector<Vertex> some_sources(const Graph& graph) {
  std::vector<Vertex> sources;
  const std::uint64_t n = graph.vertices();
  for (std::uint64_t v = 0; v < n; v += 1 + n / 5) sources.push_back(static_cast<Vertex>(v));
  if (n > 1) sources.push_back(static_cast<Vertex>(n - 1));
  return sources;
}

}  // namespace sluice::test
