// Comparisons of PPR queries on a GPU with the host's.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/ppr/ppr.hpp"
#include "engine/ppr/query_rules.hpp"
#include "gpu/gpu.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {

/// The same options without a choice of state, and with balls that read the graph's lists.
inline ppr::Options on_host(ppr::Options options) {
  options.state = ppr::State::automatic;
  options.sub_graphs = false;
  return options;
}

/// Queries in hash tables; ppr_dense_test.cpp tests dense rows.
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

  /// The queries of a batch by the workspace that answered them. `once`: the first workspace, whose table
  /// hashes; `again`: a larger one, in which they were repeated.
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
