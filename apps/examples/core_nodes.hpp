// Subgraphs of a graph's core: the first vertices, whose lists hold half of all edges. If degrees descend
// with the id, they are the hubs. A sample has a tenth of the core, and all edges between its vertices.
#pragma once

#include <algorithm>

#include "engine/samples/one_pass/one_pass.hpp"

struct CoreNodes {
  static constexpr bool kDrawsVertices = true;

  std::uint64_t one_in = 10;

  /// Number of vertices in the core; a sample draws from vertices [0, universe).
  std::uint64_t universe(const sluice::Graph& graph) const {
    const auto begins = graph.out.offsets.span();
    const std::uint64_t half = (graph.edges() + 1) / 2;
    return static_cast<std::uint64_t>(std::ranges::lower_bound(begins, half) - begins.begin());
  }
  std::uint64_t sample_size(const sluice::Graph& graph) const {
    return std::max<std::uint64_t>(universe(graph) / one_in, 1);
  }
};
