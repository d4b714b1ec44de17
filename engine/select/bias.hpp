// Biases of candidates: how a sampler may define them, and the fixed biases that have names.
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// On what a bias depends.
enum class BiasClass {
  uniform,  ///< all candidates alike
  fixed,    ///< on the edge ("static" in the papers): tables can be made once
  dynamic,  ///< on the history of the walk or the sample too
};

template <class S>
concept HasEdgeBias = requires(const S s, const GraphView& g, const Edge& e) {
  { s.edge_bias(g, e) } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept HasVertexBias = requires(const S s, const GraphView& g, Vertex v) {
  { s.vertex_bias(g, v) } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept HasUniformEdgeBias = requires(const S s, const GraphView& g) {
  { s.edge_bias_is_uniform(g) } -> std::convertible_to<bool>;
};
template <class S>
concept HasBound = requires(const S s) {
  { s.bias_bound() } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept HasFloor = requires(const S s) {
  { s.bias_floor() } -> std::convertible_to<std::uint64_t>;
};

/// The fixed biases that have names: `--bias none|weight|degree`.
struct NamedBias {
  Bias bias = Bias::none;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    if (bias == Bias::weight) return graph.weight_bias(edge);
    return bias == Bias::degree ? graph.degree(edge.target) : 1;
  }
};

}  // namespace sluice
