// A second implementation of PageRank: power iteration in long double that pushes along a plain edge list,
// until ranks do not change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/pagerank/options.hpp"
#include "partition/graph.hpp"

namespace sluice::test {

/// Twelve bytes, because an oracle reads all edges some hundred times.
struct WeightedEdge {
  Vertex from, to;
  float weight;
};

inline std::vector<WeightedEdge> edges_of(const Graph& graph, bool weighted) {
  std::vector<WeightedEdge> edges;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    for (EdgeIndex i = graph.out.offsets[v]; i < graph.out.offsets[v + 1]; ++i)
      edges.push_back({v, graph.out.targets[i], weighted ? graph.out.weights[i] : 1.0f});
  }
  return edges;
}

inline void give_loops(std::vector<WeightedEdge>& edges, std::uint64_t vertices) {
  std::vector<bool> has(vertices);
  for (const auto& edge : edges) {
    if (edge.from == edge.to && edge.weight > 0) has[edge.from] = true;
  }
  for (Vertex v = 0; v < vertices; ++v) {
    if (!has[v]) edges.push_back({v, v, 1});
  }
}

/// Ranks after `iterations`; 0: until no rank changes by `still` any more.
inline std::vector<long double> oracle_ranks(const Graph& graph, const pagerank::Options& options,
                                             std::uint32_t iterations = 0, long double still = 1e-16L) {
  const std::uint64_t n = graph.vertices();
  auto edges = edges_of(graph, options.weighted);
  if (options.dangling == pagerank::Dangling::self_loop) give_loops(edges, n);
  std::vector<long double> total(n), rank(n, 1.0L / n), next(n), share(n);
  for (const auto& edge : edges) total[edge.from] += edge.weight;
  const long double d = options.damping;
  std::erase_if(edges, [&](const WeightedEdge& edge) { return !(total[edge.from] > 0); });
  for (std::uint32_t round = 1; round <= (iterations ? iterations : 100000); ++round) {
    long double lost = 0;
    for (std::uint64_t v = 0; v < n; ++v) {
      lost += total[v] > 0 ? 0 : rank[v];
      share[v] = total[v] > 0 ? d * rank[v] / total[v] : 0;  // of an edge of weight 1
    }
    std::fill(next.begin(), next.end(), (1 - d) / n + d * lost / n);
    for (const auto& [from, to, weight] : edges) next[to] += share[from] * weight;
    long double change = 0;
    for (std::uint64_t v = 0; v < n; ++v) change = std::max(change, std::fabs(next[v] - rank[v]));
    rank.swap(next);
    if (iterations == 0 && change < still) break;
  }
  return rank;
}

struct RankError {
  double linf = 0, l1 = 0, sum = 0;  ///< sum: how far the ranks' sum is from 1
};

inline RankError error_of(std::span<const double> ranks, const std::vector<long double>& expected) {
  RankError error;
  long double sum = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    const double miss = static_cast<double>(std::fabs(ranks[v] - expected[v]));
    error.linf = std::max(error.linf, miss);
    error.l1 += miss;
    sum += ranks[v];
  }
  error.sum = static_cast<double>(std::fabs(sum - 1));
  return error;
}

}  // namespace sluice::test
