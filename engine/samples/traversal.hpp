// The sampling API for traversal-based samples (C-SAW section III): at each depth, every vertex of an
// instance's frontier selects edges of its own list. The hooks of a sampler:
//   kBias                              required: uniform, fixed or dynamic
//   edge_bias(graph, edge)             fixed part of the bias, an integer, a function of graph and edge
//                                      alone; fixed: required, dynamic: optional
//   dynamic_bias(graph, at, edge)      dynamic: required, an integer; `at` is a TracedExpansion. The edge's
//                                      bias is the product of both parts
//   edge_bias_is_uniform(graph)        dynamic: true if edge_bias is the same for all edges of this graph
//   bias_bound(), bias_floor()         dynamic: an upper (and lower) bound of dynamic_bias, if known. With
//                                      replacement the engine draws by rejection if there is a bound, else
//                                      by inverse transform. A floor above 0 makes every edge a candidate:
//                                      with a bound and without an edge_bias, draws then need not read the
//                                      whole list first
//   depth()                            required: number of depths
//   replacement()                      required: may an edge be selected twice?
//   neighbor_size(graph, at, candidates, draws)  required: how many edges to select from `candidates` edges
//                                      of positive bias; kAllNeighbors: all
//   update(graph, at, edge)            the vertex that the edge adds to the frontier; default: its target;
//                                      kNoVertex: none
// Hooks may read the offsets and degrees of all vertices, but edges only of the list being expanded, and
// neighbor_size none: on a graph in partitions no other list is resident. If all edges have the same bias and
// there is no update, no hook reads edges, and partitions may have the coded layout. `at` is an Expansion;
// for dynamic samplers all hooks get a TracedExpansion. The biases of a list must sum to less than 2^64; a
// run ends with an error at a list whose dynamic biases do not. It also ends with an error if one list needs
// more than kMaxDraws draws (2^24; 2^18 by rejection); lists taken whole may be longer.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/random/streams.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/hooks.hpp"

namespace sluice::samples {

/// Neighbour size: every candidate.
inline constexpr std::uint64_t kAllNeighbors = ~std::uint64_t{0};

/// One expansion: a frontier vertex that selects edges.
struct Expansion {
  Instance instance = 0;
  Vertex vertex = kNoVertex;
  std::uint32_t depth = 1;  ///< of the edges it will select
};

/// An expansion with the vertex from which it was reached. Only samplers of dynamic bias store that vertex.
struct TracedExpansion : Expansion {
  Vertex previous = kNoVertex;  ///< source of the edge that first reached the vertex; kNoVertex: a seed
};

/// The type of `at` in the hooks of sampler S.
template <class S>
using ExpansionOf = std::conditional_t<S::kBias == BiasClass::dynamic, TracedExpansion, Expansion>;

template <class S>
concept HasFrontierUpdate = requires(const S s, const GraphView& g, const ExpansionOf<S>& x, const Edge& e) {
  { s.update(g, x, e) } -> std::same_as<Vertex>;
};
template <class S>
concept HasTracedBias = requires(const S s, const GraphView& g, const TracedExpansion& x, const Edge& e) {
  { s.dynamic_bias(g, x, e) } -> std::convertible_to<std::uint64_t>;
};

template <class S>
concept TraversalSampler = std::is_trivially_copyable_v<S> &&
    requires(const S s, const GraphView& g, const ExpansionOf<S>& x, const SampleDraws& d) {
  { S::kBias } -> std::convertible_to<BiasClass>;
  { s.depth() } -> std::convertible_to<std::uint32_t>;
  { s.replacement() } -> std::convertible_to<bool>;
  { s.neighbor_size(g, x, std::uint64_t{}, d) } -> std::convertible_to<std::uint64_t>;
} &&(S::kBias != BiasClass::fixed || HasEdgeBias<S>)&&(S::kBias != BiasClass::dynamic || HasTracedBias<S>);

/// The hooks of sampler S that samples never call.
template <TraversalSampler S>
constexpr HookSet never_called_by_samples() {
  using enum Hook;
  constexpr HookSet required = hooks(kBias, depth, replacement, neighbor_size);
  constexpr HookSet names = required.with(edge_bias)
                                .with(edge_bias_is_uniform)
                                .with(dynamic_bias)
                                .with(bias_bound)
                                .with(bias_floor)
                                .with(update);
  constexpr bool dynamic = S::kBias == BiasClass::dynamic;
  return never_called<S>(names,
                         required.with(edge_bias, S::kBias != BiasClass::uniform && HasEdgeBias<S>)
                             .with(edge_bias_is_uniform, dynamic && HasUniformEdgeBias<S> && HasEdgeBias<S>)
                             .with(dynamic_bias, dynamic)
                             .with(bias_bound, dynamic && HasBound<S>)
                             .with(bias_floor, dynamic && HasFloor<S> && HasBound<S>)
                             .with(update, HasFrontierUpdate<S>));
}

}  // namespace sluice::samples
