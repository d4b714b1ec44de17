// The results of a run of queries, and comparisons of all but memory and time.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ppr/oracle.hpp"

namespace sluice::test {

struct Ran {
  KeptRows rows;
  ppr::Stats stats;
};

inline Ran ran(const Device& device, const Graph& graph, const Starts& starts, const ppr::Options& options,
               const PagingOptions& paging = {}) {
  Ran result;
  result.stats = run_ppr(device, graph, starts, options, result.rows, paging);
  return result;
}

inline void expect_same(const Ran& found, const Ran& expected) {
  EXPECT_TRUE(found.rows == expected.rows);
  EXPECT_EQ(found.stats.queries, expected.stats.queries);
  EXPECT_EQ(found.stats.edges, expected.stats.edges);
  EXPECT_EQ(found.stats.reached, expected.stats.reached);
  EXPECT_EQ(found.stats.largest_error, expected.stats.largest_error);
  EXPECT_EQ(found.stats.held, expected.stats.held);
}

/// Compares all figures of each query except memory and time.
inline void expect_same_figures(const KeptRows& found, const KeptRows& expected) {
  ASSERT_EQ(found.figures.size(), expected.figures.size());
  for (std::size_t i = 0; i < found.figures.size(); ++i) {
    EXPECT_EQ(found.figures[i].error, expected.figures[i].error) << i;
    EXPECT_EQ(found.figures[i].edges, expected.figures[i].edges) << i;
    EXPECT_EQ(found.figures[i].reached, expected.figures[i].reached) << i;
    EXPECT_EQ(found.figures[i].units, expected.figures[i].units) << i;
    EXPECT_GT(found.figures[i].seconds, 0) << i;
  }
}

/// The rows of all ranks, in order.
inline KeptRows joined(const std::vector<KeptRows>& parts) {
  KeptRows all;
  for (const KeptRows& some : parts) {
    all.seeds.insert(all.seeds.end(), some.seeds.begin(), some.seeds.end());
    all.vertices.insert(all.vertices.end(), some.vertices.begin(), some.vertices.end());
    all.scores.insert(all.scores.end(), some.scores.begin(), some.scores.end());
  }
  return all;
}

/// The first vertex without out-edges.
inline Vertex lone_vertex(const Graph& graph) {
  Vertex v = 0;
  while (graph.out.offsets[v] != graph.out.offsets[v + 1]) ++v;
  return v;
}

/// All methods. Every other set of options is weighted, so each method runs with and without weights.
inline std::vector<ppr::Options> methods_by_turns_weighted() {
  std::vector<ppr::Options> all = group_methods();
  for (const ppr::Options& options : one_by_one_methods()) all.push_back(options);
  for (std::size_t i = 0; i < all.size(); i += 2) all[i].weighted = true;
  return all;
}

}  // namespace sluice::test
