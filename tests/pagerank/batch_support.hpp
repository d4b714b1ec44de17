// Helpers of tests of dynamic PageRank: graphs with in-edges, random batches, exact ranks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "partition/build.hpp"
#include "partition/update.hpp"

namespace sluice::test {

inline Graph with_in_edges(Graph graph) {
  if (graph.directed) graph.in = transpose(graph.out);
  return graph;
}

/// A batch of `size` insertions and as many deletions of existing edges, and a line that may change nothing.
inline UpdateBatch random_batch(std::mt19937_64& random, const Graph& graph, std::size_t size,
                                std::uint64_t new_vertices) {
  UpdateBatch batch;
  const std::uint64_t n = graph.vertices() + new_vertices;
  const auto add = [&](EdgeColumns& to, std::uint64_t u, std::uint64_t v) {
    to.source.push_back(static_cast<Vertex>(u)), to.target.push_back(static_cast<Vertex>(v));
    to.weight.push_back(static_cast<float>(1 + random() % 7) / 4);
  };
  for (std::size_t i = 0; i < size; ++i) {
    add(batch.insertions, random() % n, random() % n);
    if (graph.edges() == 0) continue;
    const EdgeIndex edge = random() % graph.edges();
    const auto after = std::upper_bound(graph.out.offsets.begin(), graph.out.offsets.end(), edge);
    add(batch.deletions, static_cast<std::uint64_t>(after - graph.out.offsets.begin() - 1),
        graph.out.targets[edge]);
  }
  add(batch.deletions, random() % n, random() % n);
  return batch;
}

inline std::vector<long double> exact_ranks(const Device& device, const Graph& graph,
                                            pagerank::Options options) {
  options.tolerance = 1e-14;
  options.max_iterations = 5000;
  const pagerank::Result exact = pagerank::run_pagerank(device, graph, options);
  return {exact.ranks.begin(), exact.ranks.end()};
}

/// Expects the same affected vertices, iterations and end.
inline void expect_same_work(const pagerank::DynamicRankResult& result,
                             const pagerank::DynamicRankResult& expected) {
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(result.residual, expected.residual);
  EXPECT_EQ(result.end, expected.end);
  EXPECT_EQ(result.affected, expected.affected);
  EXPECT_EQ(result.initially_affected, expected.initially_affected);
  EXPECT_EQ(result.ever_affected, expected.ever_affected);
  EXPECT_EQ(result.gathered_edges, expected.gathered_edges);
}

/// Starts from equal ranks without changes: all vertices pull, then push their differences.
inline pagerank::DynamicRankResult rank_by_differences(pagerank::DynamicRanks& ranks, const Graph& graph,
                                                       double frontier_tolerance,
                                                       pagerank::RoundFusion fusion = {}) {
  return ranks.follow(graph, {},
                      {.method = pagerank::RankMethod::residual_frontier,
                       .frontier_tolerance = frontier_tolerance,
                       .fusion = fusion,
                       .all_affected = true});
}

inline std::vector<double> equal_ranks(const Graph& graph) {
  return std::vector<double>(graph.vertices(), 1.0 / static_cast<double>(graph.vertices()));
}

inline std::vector<double> ranks_of(const pagerank::DynamicRanks& ranks) {
  std::vector<double> values(ranks.vertices());
  ranks.read_ranks(values);
  return values;
}

}  // namespace sluice::test
