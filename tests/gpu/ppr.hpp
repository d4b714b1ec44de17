// Queries on a GPU beside the host's.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/ppr/ppr.hpp"
#include "engine/ppr/query_rules.hpp"
#include "gpu/gpu.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {

/// The same where there is no choice of state, and balls go on in the graph's lists.
inline ppr::Options on_host(ppr::Options options) {
  options.state = ppr::State::automatic;
  options.sub_graphs = false;
  return options;
}

/// Queries in tables: side by side they are in ppr_dense_test.cpp.
inline std::vector<ppr::Options> in_tables(std::vector<ppr::Options> methods) {
  for (ppr::Options& options : methods) options.state = ppr::State::sparse;
  return methods;
}

class GpuPpr : public OnGpu {
 protected:
  KeptRows compare(const Device& gpu, const Graph& graph, const Starts& starts, const ppr::Options& options,
                   const PagingOptions& paging = {}) {
    KeptRows found = ran(gpu, graph, starts, options, paging).rows;
    const KeptRows expected = ran(host_, graph, starts, on_host(options)).rows;
    EXPECT_TRUE(found == expected);
    EXPECT_EQ(found.figures.size(), expected.figures.size());
    if (found.figures.size() != expected.figures.size()) return found;
    for (std::size_t i = 0; i < found.figures.size(); ++i) {
      EXPECT_EQ(found.figures[i].error, expected.figures[i].error) << i;
      EXPECT_EQ(found.figures[i].held, expected.figures[i].held) << i;
      EXPECT_EQ(found.figures[i].edges, expected.figures[i].edges) << i;
      EXPECT_EQ(found.figures[i].reached, expected.figures[i].reached) << i;
      EXPECT_EQ(found.figures[i].units, expected.figures[i].units) << i;
    }
    return found;
  }

  /// Queries of one batch by where they were answered: in the workspace that a run begins with, whose table
  /// hashes, or in a larger one, where they were asked again.
  struct Asked {
    std::size_t once = 0, again = 0;
  };
  static Asked asked(const KeptRows& rows, const Graph& graph, const ppr::Options& options) {
    const ppr::WorkspaceShape first = ppr::first_workspace(graph.vertices(), options);
    EXPECT_FALSE(first.holds_all());
    Asked asked;
    for (const ppr::QueryFigures& figures : rows.figures)
      ++(figures.peak_bytes > first.bytes() ? asked.again : asked.once);
    return asked;
  }
};

}  // namespace sluice::test
