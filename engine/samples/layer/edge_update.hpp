// Where a selected edge leads: its target, or what the sampler's update(graph, edge) says.
#pragma once

#include <concepts>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice::samples {

template <class S>
concept HasEdgeUpdate = requires(const S s, const GraphView& g, const Edge& e) {
  { s.update(g, e) } -> std::same_as<Vertex>;
};

template <class Sampler>
SLUICE_HD Vertex vertex_after(const Sampler& sampler, const GraphView& graph, const Edge& edge) {
  if constexpr (HasEdgeUpdate<Sampler>) {
    return sampler.update(graph, edge);
  } else {
    return edge.target;
  }
}

}  // namespace sluice::samples
