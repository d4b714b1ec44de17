// User-defined layer samplers.
#pragma once

#include "engine/samples/layer/layer.hpp"

namespace sluice::test {

/// The same draws as the built-in kind with a bias by degree.
struct DegreeLayers {
  SLUICE_HD std::uint32_t depth() const { return 2; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return 6 * depth; }
  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.degree(edge.target);
  }
};

/// The same without a bias.
struct PlainLayers {
  SLUICE_HD std::uint32_t depth() const { return 2; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return 6 * depth; }
};

/// Bias by weight and degree, 0 for some targets; an edge continues at its target, at its source, or nowhere.
struct PickyLayers {
  SLUICE_HD std::uint32_t depth() const { return 3; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return depth == 2 ? 400 : 7; }
  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    const std::uint64_t weight = (graph.weight_bias(edge) + 0xffff) >> 16;
    return edge.target % 5 == 0 ? 0 : weight * (1 + graph.degree(edge.target));
  }
  SLUICE_HD Vertex update(const GraphView& graph, const Edge& edge) const {
    if (edge.target % 3 == 0) return kNoVertex;
    return graph.degree(edge.target) % 2 == 0 ? edge.source : edge.target;
  }
};

/// Pools the lists of few entries. Vertices of high degree are preferred, and one in seven is never chosen.
struct ThriftyLayers : PickyLayers {
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return depth == 2 ? 60 : 7; }
  SLUICE_HD std::uint64_t frontier_size(std::uint32_t depth) const { return depth == 3 ? 40 : 2; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const {
    return v % 7 == 1 ? 0 : 1 + graph.degree(v);
  }
};

/// Pools the lists of few entries, chosen uniformly, with copies if the run keeps them. Layers have more
/// edges than a warp has lanes.
struct SparePlainLayers : PlainLayers {
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return 300 * depth; }
  SLUICE_HD std::uint64_t frontier_size(std::uint32_t) const { return 3; }
};

}  // namespace sluice::test
