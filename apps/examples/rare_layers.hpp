// Layer samples that avoid hubs. A layer draws distinct edges from the pooled edges of its frontier, each
// with probability inversely proportional to its target's degree. A vertex without edges is recorded where it
// is reached, but does not enter the frontier.
#pragma once

#include "engine/samples/layer/layer.hpp"

struct RareLayers {
  std::uint32_t depths = 2;
  std::uint64_t width = 32;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t) const { return width; }

  /// At most 2^20 + 1, so the biases of 2^32 edges sum to less than 2^64.
  SLUICE_HD std::uint64_t edge_bias(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    return (std::uint64_t{1} << 20) / (std::uint64_t{1} + graph.degree(edge.target)) + 1;
  }

  /// Returns the vertex that a selected edge adds to the next depth's frontier; kNoVertex adds none.
  SLUICE_HD sluice::Vertex update(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    return graph.degree(edge.target) == 0 ? sluice::kNoVertex : edge.target;
  }
};
