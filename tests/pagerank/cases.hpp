// Graphs that are hard to rank, options that cover every path, and comparisons of results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/pagerank/static/pagerank.hpp"
#include "apps/bench/generated_graph.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {

struct NamedGraph {
  std::string name;
  Graph graph;
};

inline Graph generated(io::GraphKind kind, unsigned scale, bool undirected, io::WeightRule weights) {
  io::ConvertOptions rules;
  rules.undirected = undirected;
  rules.weights = weights;
  rules.compact = false;
  return bench::generate_graph({kind, scale}, rules);
}

/// A weighted R-MAT graph with self-loops.
inline Graph rank_rmat(bool undirected, bool reverse) {
  io::ConvertOptions rules;
  rules.undirected = undirected;
  rules.reverse = reverse;
  rules.keep_self_loops = true;
  rules.weights = io::WeightRule::uniform;
  rules.compact = false;
  return bench::generate_graph({io::GraphKind::rmat, 12, 8}, rules);
}

/// Graphs that need a rule of their own, or reveal a likely mistake; all are weighted.
inline std::vector<NamedGraph> rank_graphs() {
  std::vector<NamedGraph> all;
  const auto add = [&](std::string name, std::uint64_t n, std::vector<stat::Edge> edges,
                       bool directed = true) {
    all.push_back({std::move(name), stat::make_graph(n, std::move(edges), true, directed)});
  };
  add("one vertex", 1, {});
  add("one vertex, one loop", 1, {{0, 0}});
  add("without edges", 7, {});
  add("all dangling but one", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4, 3}});
  add("without in-edges and without out-edges", 6, {{0, 1}, {1, 2}, {3, 2}, {2, 4}});
  add("gaps in ids", 12, {{0, 9}, {9, 4}, {4, 0}, {4, 9, 0.25}});
  add("loops", 4, {{0, 0, 2}, {0, 1}, {1, 2}, {2, 2}, {2, 0, 5}, {3, 3}});
  add("parallel edges", 3, {{0, 1, 2}, {0, 1, 3}, {0, 2}, {1, 0}, {2, 2}, {2, 2, 4}, {2, 1}});
  add("components", 9, {{0, 1}, {1, 0}, {2, 3}, {3, 4}, {4, 2}, {5, 6}});
  add("weights of zero", 5, {{0, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 3}, {3, 3, 0}, {4, 4, 0}, {4, 0, 1}});
  add("extreme weights", 4, {{0, 1, 1e-38f}, {0, 2, 3e38f}, {1, 0, 1e-44f}, {2, 3, 3e38f}, {3, 0, 1e-30f}});
  add("undirected star", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}, false);
  const auto uniform = io::WeightRule::uniform;
  all.push_back({"kronecker", generated(io::GraphKind::kronecker, 10, true, uniform)});
  all.push_back({"rmat", generated(io::GraphKind::rmat, 11, false, uniform)});
  all.push_back({"grid", generated(io::GraphKind::grid, 10, true, uniform)});
  all.push_back({"ring", generated(io::GraphKind::ring, 8, false, uniform)});
  return all;
}

inline std::vector<pagerank::Options> rank_options() {
  std::vector<pagerank::Options> all(4);
  all[1].weighted = true;
  all[1].norm = pagerank::RankNorm::l2;
  all[2].dangling = pagerank::Dangling::self_loop;
  all[2].weighted = true;
  all[3].dangling = pagerank::Dangling::self_loop;
  all[3].precision = pagerank::RankPrecision::f32;
  all[3].tolerance = 1e-6;
  all[3].norm = pagerank::RankNorm::l1;
  return all;
}

inline void expect_same(const pagerank::Result& result, const pagerank::Result& expected) {
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(result.residual, expected.residual);
  ASSERT_EQ(result.ranks.size(), expected.ranks.size());
  EXPECT_TRUE(std::equal(result.ranks.begin(), result.ranks.end(), expected.ranks.begin()));
}

}  // namespace sluice::test
