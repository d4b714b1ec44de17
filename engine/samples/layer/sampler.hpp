// The sampling API for layers (C-SAW section III, neighbours of the pooled lists): each depth selects
// distinct edges from the union of all lists of an instance's frontier, successive draws proportional to the
// bias. The hooks of a sampler:
//   depth()                  required: number of depths
//   layer_size(depth)        required: how many edges depth 1, 2, ... selects; fewer if fewer have positive
//                            bias. A function of the depth alone, which the host calls too, to reserve
//                            memory
//   frontier_size(depth)     number of frontier entries whose lists a depth pools, at least 1; default: all
//                            entries
//   vertex_bias(graph, v)    with frontier_size: bias of an entry, an integer; it may read degrees only.
//                            Default: the same for all entries
//   edge_bias(graph, edge)   an integer, a function of graph and edge alone; the engine builds its table
//                            once. Default: the same for all edges
//   update(graph, edge)      the vertex that the edge adds to the frontier; default: its target; kNoVertex:
//                            none. It may read degrees only: in partitions, lists are no longer resident
// A depth selects distinct entries one after another, each with probability proportional to its vertex_bias
// among the entries left; fewer if no bias above 0 is left. Other entries are dropped. The biases of a list
// must sum to less than 2^64; the run ends with an error at a union or frontier whose biases do not.
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

/// The vertex that a selected edge adds to the next frontier; kNoVertex: none.
template <class Sampler>
SLUICE_HD Vertex vertex_after(const Sampler& sampler, const GraphView& graph, const Edge& edge) {
  if constexpr (HasEdgeUpdate<Sampler>) return sampler.update(graph, edge);
  return edge.target;
}

/// The hooks of sampler S that layer samples never call.
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

/// How the biases of a sampler's lists are summed; for named biases, in the best way for each.
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
