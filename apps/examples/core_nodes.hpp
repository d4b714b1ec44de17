// Subgraphs of a graph's core: of the first vertices, those whose lists hold half of all edges, a tenth, and
// the edges between them. Where vertices are in descending order of degree, the core is the hubs.
#pragma once

#include <algorithm>

#include "engine/samples/one_pass/one_pass.hpp"

struct CoreNodes {
  static constexpr bool kDrawsVertices = true;

  std::uint64_t one_in = 10;

  /// Vertices that are drawn from.
  std::uint64_t universe(const sluice::Graph& graph) const {
    const auto begins = graph.out.offsets.span();
    const std::uint64_t half = (graph.edges() + 1) / 2;
    return static_cast<std::uint64_t>(std::ranges::lower_bound(begins, half) - begins.begin());
  }
  std::uint64_t sample_size(const sluice::Graph& graph) const {
    return std::max<std::uint64_t>(universe(graph) / one_in, 1);
  }
};
