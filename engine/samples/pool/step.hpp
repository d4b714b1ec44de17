// Walks of a pool of vertices (frontier size 1 of a pool of M; C-SAW table I), by one group an instance.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"

namespace sluice {

/// A pool's walk between two steps.
struct PoolState {
  std::uint64_t total = 0;  ///< of the pool's biases
  std::uint32_t step = 0;
  // In partitions: the edge that the step takes, if its list is not here, and its target if another rank said
  // so.
  Vertex target = kNoVertex;
  EdgeIndex edge = 0;
  std::uint32_t in_place = 0;  ///< targets that were read in place
};

/// Bytes of device memory that an instance takes: seeds, pool and biases, and the edges of its walk.
constexpr std::uint64_t pool_bytes(std::uint64_t pool, std::uint64_t length) {
  return pool * (2 * sizeof(Vertex) + sizeof(std::uint64_t)) + length * 2 * sizeof(Vertex);
}
/// What it takes beside that where its lists come in partitions: its state, and the list that it waits for.
inline constexpr std::uint64_t kParkedPoolBytes = sizeof(PoolState) + sizeof(Vertex);
/// Instances in each of the two batches of the host: one leaves while the other is made.
inline std::uint64_t host_pool_batch(std::uint64_t each, std::uint64_t instances, std::uint64_t available) {
  constexpr std::uint64_t kBatchBytes = 64u << 20;
  const std::uint64_t fitting = std::min(kBatchBytes, available / 2) / std::max<std::uint64_t>(each, 1);
  return std::clamp<std::uint64_t>(fitting, 1, std::max<std::uint64_t>(instances, 1));
}

/// Every list is here.
struct WholeLists {
  SLUICE_HD Vertex target(const GraphView& graph, Vertex, const PoolState& state) const {
    return graph.csr.targets[state.edge];
  }
};

/// The lists of the partitions that are here.
struct PagedLists {
  PageMap map;

  /// The target of the state's edge, in the list of `v`; kNoVertex if that is not here.
  SLUICE_HD Vertex target(const GraphView&, Vertex v, PoolState& state) const {
    if (state.target != kNoVertex) return state.target;
    const std::uint32_t slot = map.slot(v);
    state.in_place += slot == map.in_place;
    return slot == PageMap::kNoSlot ? kNoVertex : map.pages[slot].targets[state.edge];
  }
};

template <class Sampler>
struct PoolProgram {
  GraphView graph;
  Sampler sampler;
  StartsView starts;
  std::uint64_t seed = 1;
  std::uint32_t length = 0;
  std::uint32_t pool_size = 1;  ///< room in the pool; lines with fewer seeds are filled up with kNoVertex

  /// Runs one instance: seeds[pool_size], pool[pool_size] and biases[pool_size] are its scratch and result,
  /// edges[length * 2] its path. Returns the steps taken.
  template <class Group>
  SLUICE_HD std::uint32_t run(const Group& group, Instance instance, Vertex* seeds, Vertex* pool,
                              std::uint64_t* biases, Vertex* edges) const {
    PoolState state = begin(group, instance, seeds, pool, biases);
    walk(group, instance, state, pool, biases, edges, WholeLists{});
    end(group, state, edges);
    return state.step;
  }

  /// The pool as it starts.
  template <class Group>
  SLUICE_HD PoolState begin(const Group& group, Instance instance, Vertex* seeds, Vertex* pool,
                            std::uint64_t* biases) const {
    std::uint64_t mine = 0;
    const std::uint64_t count = starts.count(instance);
    for (std::uint32_t i = group.rank(); i < pool_size; i += Group::kSize) {
      const Vertex v = i < count ? starts.seed_vertex(instance, i) : kNoVertex;
      seeds[i] = pool[i] = v;
      biases[i] = v == kNoVertex ? 0 : sampler.vertex_bias(graph, v);
      mine += biases[i];
    }
    const std::uint64_t total = group.sum(mine);
    group.sync();  // any lane may read the pool now
    return {.total = total};
  }

  /// Goes on through the lists that are here; returns the vertex whose list is not, or kNoVertex at the end.
  template <class Group, class Lists>
  SLUICE_HD Vertex walk(const Group& group, Instance instance, PoolState& state, Vertex* pool,
                        std::uint64_t* biases, Vertex* edges, const Lists& lists) const {
    for (; state.step < length && state.total > 0; ++state.step) {
      const PhiloxBlock block = WalkDraws{seed, state.step, instance}.block(Stream::select);
      const std::uint32_t entry = find(group, biases, uniform_index(block.low(), state.total));
      const Vertex from = pool[entry];
      const Row row = graph.row(from);
      state.edge = row.offset + uniform_index(block.high(), row.degree);
      const Vertex to = lists.target(graph, from, state);
      if (to == kNoVertex) return from;
      state.target = kNoVertex;
      const std::uint64_t bias = sampler.vertex_bias(graph, to);
      state.total = state.total - biases[entry] + bias;
      group.sync();
      if (group.rank() == 0) {
        pool[entry] = to;
        biases[entry] = bias;
        edges[2 * std::uint64_t{state.step}] = from;
        edges[2 * std::uint64_t{state.step} + 1] = to;
      }
      group.sync();
    }
    return kNoVertex;
  }

  /// What the path has no steps for.
  template <class Group>
  SLUICE_HD void end(const Group& group, const PoolState& state, Vertex* edges) const {
    for (std::uint64_t i = 2 * std::uint64_t{state.step} + group.rank(); i < 2 * std::uint64_t{length};
         i += Group::kSize) {
      edges[i] = kNoVertex;
    }
  }

 private:
  /// The entry whose region of the pool's CTPS holds x.
  template <class Group>
  SLUICE_HD std::uint32_t find(const Group& group, const std::uint64_t* biases, std::uint64_t x) const {
    std::uint64_t below = 0;
    for (std::uint32_t base = 0;; base += Group::kSize) {
      const std::uint32_t i = base + group.rank();
      const std::uint64_t sum = below + group.inclusive_scan(i < pool_size ? biases[i] : std::uint64_t{0});
      const std::uint32_t hit = group.ballot(sum > x);
      if (hit != 0) return base + group.first(hit);
      below = group.broadcast(sum, Group::kSize - 1);
    }
  }
};

}  // namespace sluice
