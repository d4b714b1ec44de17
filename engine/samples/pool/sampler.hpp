// The sampling API for pools of vertices (C-SAW section III): each step selects entries of the pool, and the
// neighbours that these select replace them. The hooks of a sampler:
//   pool_size()              required: number of seeds
//   vertex_bias(graph, v)    required: bias of an entry, an integer; it may read degrees only. Without an
//                            edge_bias it must be 0 if v has no neighbour
//   frontier_size()          entries that a step selects, at least 1; default: 1
//   neighbor_size()          neighbours that each of them selects, at least 1; default: 1
//   replacement()            may an entry select a neighbour twice in a step? Default: yes. If not, an entry
//                            with at most neighbor_size neighbours selects all of them
//   edge_bias(graph, edge)   bias of a neighbour, an integer, a function of graph and edge alone; the engine
//                            builds its table once. Default: the same for all edges
//   update(graph, from, to)  the vertex that an edge adds to the pool; default: `to`; kNoVertex: none. It may
//                            read degrees only
//
// A step selects distinct entries one after another, each with probability proportional to its vertex_bias
// among the entries not yet selected in the step; fewer if no bias above 0 is left. Each selected entry then
// selects neighbours by edge_bias: independently of each other, or without replacement one after another
// among the edges left. Each such edge is recorded. The first neighbour replaces the entry; further ones are
// appended to the pool: a step appends at most frontier_size * (neighbor_size - 1) entries. A step never
// selects entries that it has added. An entry without an edge of positive edge_bias is never selected. The
// walk ends after its length in steps, or when no bias is above 0.
//
// WalkBatch::edges is [count, length, frontier_size * neighbor_size, 2]: a step's edges in order of
// selection, padded with kNoVertex. The biases of a list, and of a pool, must sum to less than 2^64.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/core/types.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/hooks.hpp"

namespace sluice::samples {

template <class S>
concept PoolSampler = std::is_trivially_copyable_v<S> && HasVertexBias<S> && requires(const S s) {
  { s.pool_size() } -> std::convertible_to<std::uint32_t>;
};
template <class S>
concept HasFrontierSize = requires(const S s) {
  { s.frontier_size() } -> std::convertible_to<std::uint32_t>;
};
template <class S>
concept HasPoolNeighborSize = requires(const S s) {
  { s.neighbor_size() } -> std::convertible_to<std::uint32_t>;
};
template <class S>
concept HasPoolReplacement = HasPoolNeighborSize<S> && requires(const S s) {
  { s.replacement() } -> std::convertible_to<bool>;
};
template <class S>
concept HasPoolUpdate = requires(const S s, const GraphView& g, Vertex v) {
  { s.update(g, v, v) } -> std::same_as<Vertex>;
};

/// The hooks of sampler S that pools never call.
template <PoolSampler S>
constexpr HookSet never_called_by_pools() {
  using enum Hook;
  constexpr HookSet required = hooks(pool_size, vertex_bias);
  constexpr HookSet names =
      required.with(frontier_size).with(neighbor_size).with(replacement).with(edge_bias).with(update);
  return never_called<S>(names, required.with(frontier_size, HasFrontierSize<S>)
                                    .with(neighbor_size, HasPoolNeighborSize<S>)
                                    .with(replacement, HasPoolReplacement<S>)
                                    .with(edge_bias, HasEdgeBias<S>)
                                    .with(update, HasPoolUpdate<S>));
}

}  // namespace sluice::samples
