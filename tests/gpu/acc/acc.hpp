// Test graphs, and comparisons of GPU results with host results, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "acc/cases.hpp"
#include "engine/acc/solve.hpp"
#include "gpu/gpu.hpp"

namespace sluice::test {

/// All ACC graphs; under a sanitizer only graphs that need few rounds.
inline std::vector<NamedGraph> graphs() {
  std::vector<NamedGraph> some;
  for (NamedGraph& graph : acc_graphs())
    if (!brief() || graph.name == "star of stars" || graph.name == "zoo") some.push_back(std::move(graph));
  return some;
}

inline std::vector<Vertex> sources(const Graph& graph) {
  std::vector<Vertex> some = some_sources(graph);
  some.resize(at_most(some.size(), 1));
  return some;
}

template <class T>
inline void expect_equal(const HostArray<T>& found, const HostArray<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
}

/// One graph on the host and on the GPU.
struct Both {
  Both(const Device& host, const Device& gpu, const Graph& graph, const acc::AccNeeds& needs)
      : on_host(host, graph, needs), on_gpu(gpu, graph, needs) {}
  acc::AccGraph on_host, on_gpu;
};

inline void compare_searches(const Both& both, Vertex source, const acc::AccOptions& options) {
  const acc::BfsResult found = bfs(both.on_gpu, source, options), expected = bfs(both.on_host, source);
  expect_equal(found.depths, expected.depths);
  expect_equal(found.parents, expected.parents);
  EXPECT_EQ(found.stats.rounds, expected.stats.rounds);
  EXPECT_EQ(found.stats.trace.size(), std::min<std::uint64_t>(found.stats.rounds, acc::kTracedRounds));
}

inline Graph kronecker(unsigned scale = rmat_scale(), unsigned edge_factor = 16) {
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  return bench::generate_graph({io::GraphKind::kronecker, scale, edge_factor}, rules);
}

class GpuAcc : public OnGpu {};

inline Vertex hub_of(const Graph& graph) {
  const EdgeIndex* const offsets = graph.out.offsets.data();
  Vertex hub = 0;
  for (Vertex v = 0; v < graph.vertices(); ++v)
    if (offsets[v + 1] - offsets[v] > offsets[hub + 1] - offsets[hub]) hub = v;
  return hub;
}

/// A graph with hubs, whose lists the whole grid processes, and vertices whose lists a warp processes.
inline Graph stars() {
  std::vector<stat::Edge> edges;
  for (Vertex v = 3; v < 9000; ++v) {
    edges.push_back({v % 2, v, static_cast<float>(v % 7)});
    if (v % 3 == 0) edges.push_back({2 * (v % 2), v, static_cast<float>(v % 5)});
    if (v % 11 == 0) edges.push_back({v, 3 + v % 100, 1});
  }
  return stat::make_undirected(9000, edges, true);
}

/// Calls run(options), which returns its stats, for each direction that the graph allows.
template <class Run>
inline void compare_directions(const acc::AccGraph& graph, acc::AccFilter filter, const Run& run) {
  for (const acc::AccDirection direction :
       {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
    if (direction == acc::AccDirection::pull && graph.vertices() > 0 && !graph.has_in_edges()) continue;
    const acc::AccStats stats = run({.direction = direction, .filter = filter});
    if (direction != acc::AccDirection::automatic) {
      EXPECT_EQ(stats.pulls, direction == acc::AccDirection::pull ? stats.rounds : 0);
    }
  }
}

/// Compares every program on the GPU, where `place` says how it holds the graph, with a whole graph on the
/// host.
inline void compare_programs(const Device& host, const Device& gpu, const Graph& graph,
                             const acc::AccPlace& place, acc::AccFilter filter = acc::AccFilter::jit) {
  const acc::AccNeeds both_ways{.in_edges = true, .weights = true};
  const acc::AccGraph on_gpu(gpu, graph, both_ways, place), on_host(host, graph, both_ways);
  for (const Vertex source : sources(graph)) {
    const acc::BfsResult expected = bfs(on_host, source);
    for (const acc::AccDirection direction :
         {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
      if (direction == acc::AccDirection::pull && graph.vertices() > 0 && !on_gpu.has_in_edges()) continue;
      const acc::BfsResult found = bfs(on_gpu, source, {.direction = direction, .filter = filter});
      expect_equal(found.depths, expected.depths);
      expect_equal(found.parents, expected.parents);
      EXPECT_EQ(found.stats.rounds, expected.stats.rounds);
      if (direction == acc::AccDirection::automatic) {
        EXPECT_EQ(found.stats.pulls, expected.stats.pulls);
        EXPECT_EQ(found.stats.edges, expected.stats.edges);
      } else {
        EXPECT_EQ(found.stats.pulls, direction == acc::AccDirection::pull ? found.stats.rounds : 0);
      }
    }
    const acc::SsspResult distances = sssp(on_host, source);
    compare_directions(on_gpu, filter, [&](const acc::AccOptions& options) {
      const acc::SsspResult found = sssp(on_gpu, source, 0, options);
      expect_equal(found.distances, distances.distances);
      return found.stats;
    });
  }
  if (!graph.directed) {
    const acc::AccNeeds needs{.in_edges = true, .simple = true};
    const acc::AccGraph simple_on_gpu(gpu, graph, needs, place), simple_on_host(host, graph, needs);
    for (const std::uint32_t k : {0u, 3u}) {
      const acc::CoreResult cores = core_numbers(simple_on_host, k);
      compare_directions(simple_on_gpu, filter, [&](const acc::AccOptions& options) {
        const acc::CoreResult found = core_numbers(simple_on_gpu, k, options);
        expect_equal(found.cores, cores.cores);
        return found.stats;
      });
    }
  }
  expect_equal(components(on_gpu).components, components(on_host).components);
}

}  // namespace sluice::test
