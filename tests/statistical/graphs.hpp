// Small graphs that are hard to sample from: hubs, dead ends, zero and extreme weights, self-loops, parallel
// edges.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "partition/graph.hpp"

namespace sluice::stat {

struct Edge {
  Vertex from, to;
  float weight = 1;
};

/// Compressed rows in order of (from, to); parallel edges keep their order.
inline Graph make_graph(std::uint64_t vertices, std::vector<Edge> edges, bool weighted,
                        bool directed = true) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  Graph graph;
  graph.directed = directed;
  graph.weighted = weighted;
  graph.origin = "test";
  graph.out.offsets = HostArray<EdgeIndex>(vertices + 1);
  graph.out.targets = HostArray<Vertex>(edges.size());
  if (weighted) graph.out.weights = HostArray<float>(edges.size());
  std::fill(graph.out.offsets.begin(), graph.out.offsets.end(), 0);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    ++graph.out.offsets[edges[i].from + 1];
    graph.out.targets[i] = edges[i].to;
    if (weighted) graph.out.weights[i] = edges[i].weight;
  }
  for (std::uint64_t v = 0; v < vertices; ++v) graph.out.offsets[v + 1] += graph.out.offsets[v];
  return graph;
}

/// Both directions of every edge; a self-loop once.
inline Graph make_undirected(std::uint64_t vertices, std::vector<Edge> edges, bool weighted) {
  const std::size_t count = edges.size();
  for (std::size_t i = 0; i < count; ++i)
    if (edges[i].from != edges[i].to) edges.push_back({edges[i].to, edges[i].from, edges[i].weight});
  return make_graph(vertices, std::move(edges), weighted, false);
}

/// The hard vertices of `zoo`, followed by its leaves.
enum Special : Vertex {
  kHub,                    ///< hundreds of neighbours, some of weight or degree zero
  kDeadEnd,                ///< no out-edges
  kSomeZero,               ///< weights of zero between others, at the front and at the back
  kAllZero,                ///< only weights of zero
  kSixOrders,              ///< weights over six orders of magnitude
  kAtFanout,               ///< as many neighbours as the fanout of the tests (3)
  kBelowFanout,            ///< fewer
  kDisconnected,           ///< no edges at all
  kCycle,                  ///< six vertices of a cycle with chords
  kBiasList = kCycle + 6,  ///< {3,6,2,2,2}, where the published region search is biased
  kParallel,               ///< parallel edges of different weights
  kSelfLoop,
  kTwoLoops,
  kSingle,      ///< one neighbour
  kEqual,       ///< eight neighbours of one weight: a power of two
  kDenormal,    ///< all weights are denormal numbers
  kRounded,     ///< weights so small beside the largest that each counts as 1
  kToDeadEnds,  ///< all neighbours have degree zero
  kTen,         ///< ten neighbours, one of them the hub
  kSpecials
};

inline constexpr Vertex kFanout = 3;
inline constexpr Vertex kHubDegree = 300;

/// All of these in one directed multigraph; leaves have edges to the hub and to the special vertices.
inline Graph zoo(bool weighted = true) {
  const auto leaf = [](Vertex i) { return kSpecials + i % kHubDegree; };
  std::vector<Edge> edges;
  const auto list = [&](Vertex from, Vertex first_leaf, std::initializer_list<float> weights) {
    for (const float weight : weights) edges.push_back({from, leaf(first_leaf++), weight});
  };
  for (Vertex i = 0; i < kHubDegree; ++i) {
    const bool zero = i % 17 == 5;
    edges.push_back({kHub, leaf(i), zero ? 0.0f : static_cast<float>(1 + i * 7 % 13)});
  }
  list(kSomeZero, 10, {0, 3, 0, 0, 5, 1, 0});
  list(kAllZero, 20, {0, 0, 0});
  list(kSixOrders, 30, {1e-3f, 1, 1e3f, 10, 0.1f, 100, 400});
  list(kAtFanout, 40, {4, 1, 2});
  list(kBelowFanout, 44, {1, 3});
  for (Vertex i = 0; i < 6; ++i) {
    const float weight = static_cast<float>(i + 1);
    edges.push_back({kCycle + i, kCycle + (i + 1) % 6, weight});
    edges.push_back({kCycle + i, kCycle + (i + 3) % 6, 2});
    if (i % 2) edges.push_back({kCycle + i, kCycle + (i + 2) % 6, 0.3f});
    if (i % 3 == 0) edges.push_back({kCycle + i, kHub, 0.7f});
  }
  list(kBiasList, 60, {3, 6, 2, 2, 2});
  edges.insert(edges.end(), {{kParallel, kSelfLoop, 1},
                             {kParallel, kSelfLoop, 4},
                             {kParallel, kSelfLoop, 0.5f},
                             {kParallel, kTwoLoops, 2},
                             {kParallel, kTwoLoops, 2},
                             {kParallel, leaf(70), 3}});
  edges.insert(edges.end(), {{kSelfLoop, kSelfLoop, 2}, {kSelfLoop, leaf(71), 1}, {kSelfLoop, kTen, 5}});
  edges.insert(edges.end(), {{kTwoLoops, kTwoLoops, 1}, {kTwoLoops, kTwoLoops, 1}, {kTwoLoops, leaf(72), 1}});
  list(kSingle, 80, {7});
  list(kEqual, 90, {2, 2, 2, 2, 2, 2, 2, 2});
  list(kDenormal, 110, {1e-40f, 3e-40f, 2e-41f, 6e-40f});
  list(kRounded, 120, {1e-12f, 1, 1e-20f, 0.5f, 1e-30f, 0.25f});
  edges.insert(edges.end(),
               {{kToDeadEnds, kDeadEnd, 2}, {kToDeadEnds, leaf(0), 1}, {kToDeadEnds, leaf(50), 3}});
  edges.push_back({kTen, kHub, 1});
  list(kTen, 140, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (Vertex i = 0; i < kHubDegree; ++i) {
    if (i % 50 == 0) continue;  // leaves of degree zero
    const Vertex special = i % kSpecials == kDisconnected ? Vertex{kCycle} : i % kSpecials;
    if (special != kHub) edges.push_back({leaf(i), kHub, 2});
    edges.push_back({leaf(i), special, static_cast<float>(1 + i % 5)});
    if (i % 3 == 0) edges.push_back({leaf(i), leaf(i + 1), 0.5f});
  }
  return make_graph(kSpecials + kHubDegree, std::move(edges), weighted);
}

/// An undirected graph with many triangles, for second-order walks: a clique, a wheel, a square, a pendant, a
/// hub.
inline Graph triangles(bool weighted = true) {
  std::vector<std::pair<Vertex, Vertex>> pairs = {{0, 1}, {0, 2},  {0, 3},  {1, 2},   {1, 3},   {2, 3},
                                                  {3, 4}, {9, 10}, {0, 11}, {11, 12}, {12, 13}, {13, 0}};
  for (Vertex i = 0; i < 5; ++i) pairs.insert(pairs.end(), {{4, 5 + i}, {5 + i, 5 + (i + 1) % 5}});
  for (Vertex i = 14; i < 60; ++i)
    pairs.insert(pairs.end(), {{0, i}, {i, i % 7 == 6 ? 4 : (i == 59 ? 14 : i + 1)}});
  std::vector<Edge> edges;
  for (const auto& [a, b] : pairs) edges.push_back({a, b, static_cast<float>(1 + (a * 5 + b * 3) % 7) / 2});
  return make_undirected(60, std::move(edges), weighted);
}

/// A few vertices of all hard kinds, for samplers whose state is a set of vertices. Lists have at most 5
/// entries.
inline Graph pocket(bool weighted = true) {
  return make_graph(8,
                    {{0, 1, 3},
                     {0, 2, 6},
                     {0, 3, 2},
                     {0, 4, 2},
                     {0, 5, 2},
                     {1, 0, 1},
                     {1, 1, 1e-3f},
                     {1, 2, 500},
                     {2, 0, 4},
                     {2, 3, 0},
                     {2, 5, 1},
                     {3, 4, 0.25f},
                     {3, 4, 1},
                     {3, 6, 0},
                     {4, 0, 1e-9f},
                     {4, 1, 2e-9f},
                     {4, 2, 1e-9f},
                     {5, 6, 1}},  // 6 is a dead end, 7 is isolated
                    weighted);
}

/// A hub and its leaves without dead ends: every vertex always has candidates.
inline Graph star() {
  std::vector<Edge> edges;
  for (Vertex i = 1; i <= kHubDegree; ++i) {
    edges.push_back({0, i, static_cast<float>(1 + i * 7 % 13)});
    for (const Vertex step : {0u, 1u, 5u, 11u, 40u})
      edges.push_back({i, step ? 1 + (i + step) % kHubDegree : 0, step ? 1.5f : 6.0f});
  }
  return make_graph(1 + kHubDegree, std::move(edges), true);
}

inline constexpr Vertex kRegularDegree = 4;

/// Every list has four entries with weights 1, 2, 3, 4 by rank, so all vertices have the same distribution.
inline Graph regular() {
  std::vector<Edge> edges;
  for (Vertex v = 0; v < 16; ++v) {
    std::set<Vertex> targets;
    for (const Vertex step : {1u, 2u, 4u, 7u}) targets.insert((v + step) % 16);
    float weight = 1;
    for (const Vertex target : targets) edges.push_back({v, target, weight++});
  }
  return make_graph(16, std::move(edges), true);
}

}  // namespace sluice::stat
