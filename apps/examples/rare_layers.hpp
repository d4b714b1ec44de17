// Layers that prefer what few lead to: of the pooled edges of a frontier, distinct ones with probability
// inversely proportional to the degree of their target, so that hubs do not fill every layer. A vertex
// without edges is recorded where it is reached, but takes no place in the frontier.
#pragma once

#include "engine/samples/layer/layer.hpp"

struct RareLayers {
  std::uint32_t depths = 2;
  std::uint64_t width = 32;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t) const { return width; }

  /// An integer of 20 bits: a list of 2^32 edges still adds up to less than 2^64.
  SLUICE_HD std::uint64_t edge_bias(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    return (std::uint64_t{1} << 20) / (std::uint64_t{1} + graph.degree(edge.target)) + 1;
  }

  /// The vertex that a selected edge brings to the next depth's frontier.
  SLUICE_HD sluice::Vertex update(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    return graph.degree(edge.target) == 0 ? sluice::kNoVertex : edge.target;
  }
};
