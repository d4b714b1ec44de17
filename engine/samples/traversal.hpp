// The sampling API for traversal-based samples (C-SAW section III): depth by depth, every vertex of an
// instance's frontier selects edges of its own list. A sampler may have
//   kBias                              required: uniform, fixed or dynamic
//   edge_bias(graph, edge)             fixed part of the bias, an integer, a function of graph and edge
//                                      alone; fixed: required, dynamic: optional
//   dynamic_bias(graph, at, edge)      dynamic: required, an integer; `at` is a TracedExpansion. The edge's
//                                      bias is the product of both parts
//   edge_bias_is_uniform(graph)        dynamic: true where edge_bias is the same for all edges of this graph
//   bias_bound(), bias_floor()         dynamic: an upper (and lower) bound of dynamic_bias, if known. With
//                                      replacement the engine draws by rejection below a bound, without one
//                                      by inverse transform. A floor above 0 says that every edge is a
//                                      candidate: beside a bound and without an edge_bias, lists then need
//                                      not be read whole before they are drawn from
//   depth()                            required: rounds
//   replacement()                      required: may an edge be selected twice?
//   neighbor_size(graph, at, candidates, draws)  required: how many edges to select, of so many of positive
//                                      bias; kAllNeighbors: all
//   update(graph, at, edge)            which vertex the edge brings to the frontier; default: its target;
//                                      kNoVertex: none
// Offsets and degrees of all vertices may be read at any time; of edges, only those of the list that is
// expanded, and none by neighbor_size: in partitions no other is there. Where all edges are alike and there
// is no update, no hook reads edges, and partitions may come coded. `at` is an Expansion, and for dynamic
// samplers a TracedExpansion in all hooks. Biases of a list must add up to less than 2^64: a dynamic bias
// that does not is refused when it is met. One list gives at most kMaxDraws draws (2^24; by rejection 2^18):
// a run that wants more ends with an error, but whole lists may be longer.
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

/// One expansion: a vertex of a frontier, about to select edges.
struct Expansion {
  Instance instance = 0;
  Vertex vertex = kNoVertex;
  std::uint32_t depth = 1;  ///< of the edges it will select
};

/// An expansion that knows where it came from. Only samplers of dynamic bias pay for that.
struct TracedExpansion : Expansion {
  Vertex previous = kNoVertex;  ///< source of the edge that first reached the vertex; kNoVertex: it is a seed
};

/// The expansion that a sampler's hooks are given.
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

/// What samples never call of their sampler.
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
