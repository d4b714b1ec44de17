// The sampling API for traversal-based samples (C-SAW section III): depth by depth, every vertex of an
// instance's frontier selects edges of its own list. A sampler may have
//   kBias                              required: uniform or fixed
//   edge_bias(graph, edge)             fixed: required; an integer, a function of graph and edge alone
//   depth()                            required: rounds
//   replacement()                      required: may an edge be selected twice?
//   neighbor_size(graph, expansion, candidates, draws)  required: how many edges to select; kAllNeighbors:
//   all update(graph, expansion, edge)     which vertex the edge brings to the frontier; default: its target;
//                                      kNoVertex: none
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/core/macros.hpp"
#include "engine/random/streams.hpp"
#include "engine/sampling/sampler.hpp"
#include "engine/select/graph_view.hpp"

namespace sluice {

/// Neighbour size: every candidate.
inline constexpr std::uint64_t kAllNeighbors = ~std::uint64_t{0};

/// One expansion: a vertex of a frontier, about to select edges.
struct Expansion {
  Instance instance = 0;
  Vertex vertex = kNoVertex;
  std::uint32_t depth = 1;  ///< of the edges it will select
};

template <class S>
concept HasFrontierUpdate = requires(const S s, const GraphView& g, const Expansion& x, const Edge& e) {
  { s.update(g, x, e) } -> std::same_as<Vertex>;
};

template <class S>
concept TraversalSampler = std::is_trivially_copyable_v<S> &&
    requires(const S s, const GraphView& g, const Expansion& x, const SampleDraws& d) {
  { S::kBias } -> std::convertible_to<BiasClass>;
  { s.depth() } -> std::convertible_to<std::uint32_t>;
  { s.replacement() } -> std::convertible_to<bool>;
  { s.neighbor_size(g, x, std::uint64_t{}, d) } -> std::convertible_to<std::uint64_t>;
} &&(S::kBias == BiasClass::uniform || (S::kBias == BiasClass::fixed && HasEdgeBias<S>));

}  // namespace sluice
