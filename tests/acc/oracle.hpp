// Expected results of the solvers, by plain reference code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "partition/graph.hpp"

namespace sluice::test {

struct OracleEdge {
  Vertex to;
  double weight;
};

inline std::vector<OracleEdge> edges_of(const Graph& graph, Vertex v) {
  std::vector<OracleEdge> edges;
  for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e)
    edges.push_back(
        {graph.out.targets[e], graph.out.weights.empty() ? 1.0 : static_cast<double>(graph.out.weights[e])});
  return edges;
}

struct OracleSearch {
  std::vector<std::int32_t> depths;
  std::vector<Vertex> parents;
};

inline OracleSearch oracle_bfs(const Graph& graph, Vertex source) {
  const std::uint64_t n = graph.vertices();
  OracleSearch found{std::vector<std::int32_t>(n, -1), std::vector<Vertex>(n, kNoVertex)};
  std::queue<Vertex> queue({source});
  found.depths[source] = 0, found.parents[source] = source;
  for (; !queue.empty(); queue.pop()) {
    const Vertex u = queue.front();
    for (const auto& [v, weight] : edges_of(graph, u)) {
      if (found.depths[v] < 0) found.depths[v] = found.depths[u] + 1, queue.push(v);
      if (found.depths[v] == found.depths[u] + 1) found.parents[v] = std::min(found.parents[v], u);
    }
  }
  return found;
}

/// Distances by Dijkstra's algorithm.
inline std::vector<double> oracle_distances(const Graph& graph, Vertex source) {
  std::vector<double> distances(graph.vertices(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, Vertex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({distances[source] = 0, source});
  while (!queue.empty()) {
    const auto [distance, u] = queue.top();
    queue.pop();
    if (distance > distances[u]) continue;
    for (const auto& [v, weight] : edges_of(graph, u))
      if (distance + weight < distances[v]) queue.push({distances[v] = distance + weight, v});
  }
  return distances;
}

/// Neighbours in either direction.
inline std::vector<std::set<Vertex>> oracle_neighbors(const Graph& graph) {
  std::vector<std::set<Vertex>> neighbors(graph.vertices());
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    for (const auto& edge : edges_of(graph, u))
      if (edge.to != u) neighbors[u].insert(edge.to), neighbors[edge.to].insert(u);
  }
  return neighbors;
}

/// For every k, removes vertices of fewer than k neighbours until none is left.
inline std::vector<std::uint32_t> oracle_cores(const Graph& graph) {
  auto neighbors = oracle_neighbors(graph);
  std::vector<std::uint32_t> cores(graph.vertices());
  std::set<Vertex> left;
  for (Vertex v = 0; v < graph.vertices(); ++v) left.insert(v);
  for (std::uint32_t k = 1; !left.empty(); ++k) {
    std::vector<Vertex> going;
    for (const Vertex v : left)
      if (neighbors[v].size() < k) going.push_back(v);
    while (!going.empty()) {
      const Vertex v = going.back();
      going.pop_back();
      if (left.erase(v) == 0) continue;
      cores[v] = k - 1;
      for (const Vertex u : neighbors[v]) {
        neighbors[u].erase(v);
        if (left.count(u) != 0 && neighbors[u].size() < k) going.push_back(u);
      }
    }
  }
  return cores;
}

/// For each vertex, the smallest vertex that a search in both directions reaches.
inline std::vector<Vertex> oracle_components(const Graph& graph) {
  const auto neighbors = oracle_neighbors(graph);
  std::vector<Vertex> components(graph.vertices(), kNoVertex);
  for (Vertex first = 0; first < graph.vertices(); ++first) {
    if (components[first] != kNoVertex) continue;
    std::vector<Vertex> stack{first};
    components[first] = first;
    while (!stack.empty()) {
      const Vertex v = stack.back();
      stack.pop_back();
      for (const Vertex u : neighbors[v])
        if (components[u] == kNoVertex) components[u] = first, stack.push_back(u);
    }
  }
  return components;
}

}  // namespace sluice::test
