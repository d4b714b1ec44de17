// The sampling API for layers (C-SAW section III, neighbours of the pooled lists): each depth selects
// distinct edges from the union of all lists of an instance's frontier, successive draws proportional to the
// bias. A sampler may have
//   depth()                  required: rounds
//   layer_size(depth)        required: how many edges depth 1, 2, ... selects; fewer where there are fewer of
//                            positive bias. A function of the depth alone, which the host calls too: memory
//                            is reserved by it
//   frontier_size(depth)     of how many entries of the frontier a depth pools the lists, at least 1;
//   default:
//                            all
//   vertex_bias(graph, v)    frontier_size: bias of an entry, an integer; it may read degrees only. Default:
//                            all alike
//   edge_bias(graph, edge)   an integer, a function of graph and edge alone, tabled once; default: all alike
//   update(graph, edge)      which vertex the edge brings to the frontier; default: its target; kNoVertex:
//                            none. It may read degrees only: in partitions, no list is there any more
// A depth selects distinct entries, one after the other, each with probability proportional to its
// vertex_bias among those that are left; fewer where no bias above 0 is left. What is not selected never
// comes back. The biases of a list must add up to less than 2^64; a union or a frontier whose biases do not
// is refused when it is met.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/graph/graph_view.hpp"
#include "engine/samples/layer/candidates.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/hooks.hpp"

namespace sluice::samples {

template <class S>
concept LayerSampler = std::is_trivially_copyable_v<S> && requires(const S s, std::uint32_t depth) {
  { s.depth() } -> std::convertible_to<std::uint32_t>;
  { s.layer_size(depth) } -> std::convertible_to<std::uint64_t>;
};

template <class S>
concept HasEdgeUpdate = requires(const S s, const GraphView& g, const Edge& e) {
  { s.update(g, e) } -> std::same_as<Vertex>;
};

template <class S>
concept HasLayerFrontier = requires(const S s, std::uint32_t depth) {
  { s.frontier_size(depth) } -> std::convertible_to<std::uint64_t>;
};

/// Where a selected edge leads.
template <class Sampler>
SLUICE_HD Vertex vertex_after(const Sampler& sampler, const GraphView& graph, const Edge& edge) {
  if constexpr (HasEdgeUpdate<Sampler>) return sampler.update(graph, edge);
  return edge.target;
}

/// What layer samples never call of their sampler.
template <LayerSampler S>
constexpr HookSet never_called_by_layers() {
  using enum Hook;
  constexpr HookSet required = hooks(depth, layer_size);
  constexpr HookSet names = required.with(frontier_size).with(vertex_bias).with(edge_bias).with(update);
  return never_called<S>(names, required.with(frontier_size, HasLayerFrontier<S>)
                                    .with(vertex_bias, HasVertexBias<S> && HasLayerFrontier<S>)
                                    .with(edge_bias, HasEdgeBias<S>)
                                    .with(update, HasEdgeUpdate<S>));
}

/// How the lists of a sampler are summed: those of biases that have names, each in the way that is best.
template <LayerSampler S>
LayerBias layer_bias(const S& sampler) {
  if constexpr (std::derived_from<S, NamedBias>) {
    if (sampler.bias == Bias::weight) return LayerBias::weight;
    return sampler.bias == Bias::degree ? LayerBias::tabled : LayerBias::uniform;
  } else {
    return HasEdgeBias<S> ? LayerBias::tabled : LayerBias::uniform;
  }
}

}  // namespace sluice::samples
