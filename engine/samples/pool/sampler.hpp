// The sampling API for pools of vertices (C-SAW section III): each step selects an entry of the pool, and a
// uniform neighbour takes its place. A sampler has
//   frontier_size            seeds in the pool
//   vertex_bias(graph, v)    bias of an entry, an integer; it may read degrees only, and must be 0 where v
//   has
//                            no neighbour
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/core/types.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/hooks.hpp"

namespace sluice {

template <class S>
concept PoolSampler = std::is_trivially_copyable_v<S> && requires(const S s, const GraphView& g, Vertex v) {
  { s.frontier_size } -> std::convertible_to<std::uint32_t>;
  { s.vertex_bias(g, v) } -> std::convertible_to<std::uint64_t>;
};

/// What pools never call of their sampler.
template <PoolSampler S>
constexpr HookSet never_called_by_pools() {
  constexpr HookSet required = hooks(Hook::frontier_size, Hook::vertex_bias);
  return never_called<S>(required, required);
}

}  // namespace sluice
