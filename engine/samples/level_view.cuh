// A level as kernels see it, and whose turn it is among its entries.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/samples/level.hpp"

namespace sluice::samples::cuda {

/// Pointers of a level.
struct LevelView {
  std::uint64_t entries, edges;
  std::uint32_t fanout;
  const FrontierEntry* frontier;
  std::uint64_t *offsets, *before;
  const std::uint64_t* instance_entries;
  std::uint32_t* indices;
  Vertex* targets;
  std::uint32_t* owners;
  Vertex* parents;  // dynamic samplers only, as `available`
  std::uint32_t* available;
  Vertex* arrivals;  // in partitions, and of samplers with an update, only

  __device__ __forceinline__ std::uint64_t offset(std::uint64_t entry) const {
    return fanout ? entry * fanout : offsets[entry];
  }
  /// The first edge of an instance, or where it would be.
  __device__ __forceinline__ std::uint64_t first_edge(std::uint64_t instance) const {
    return offset(instance_entries[instance]);
  }
  /// How many edges an instance has had before one of this level.
  __device__ __forceinline__ std::uint64_t edges_before(std::uint32_t instance, std::uint64_t edge) const {
    return before[instance] + (edge - first_edge(instance));
  }
  __device__ __forceinline__ std::uint64_t owner(std::uint64_t edge) const {
    return fanout ? edge / fanout : owners[edge];
  }
  /// Stores an edge of an entry: where it stands in its list, and where it leads.
  __device__ __forceinline__ void put(std::uint64_t edge, std::uint64_t entry, std::uint32_t index,
                                      Vertex target) const {
    __stcs(indices + edge, index);
    __stcs(targets + edge, target);
    if (!fanout) owners[edge] = static_cast<std::uint32_t>(entry);
  }
  /// An edge's position in /out/indices.
  __device__ __forceinline__ EdgeIndex position(const GraphView& graph, Vertex source,
                                                std::uint64_t edge) const {
    return graph.csr.offsets[source] + indices[edge];
  }
};

inline LevelView view_of(const SampleLevel& level) {
  return {level.entries,
          level.edges,
          level.fanout,
          level.frontier.data(),
          level.offsets.data(),
          level.before.data(),
          level.instance_entries.data(),
          level.indices.data(),
          level.targets.data(),
          level.owners.data(),
          level.parents.data(),
          level.available.data(),
          level.arrivals.data()};
}

/// Whose turn it is to be worked on: every entry's of a level, each of whose groups of lanes has one. The
/// graph is here as a whole: a look for codes in put() would be one more branch of every edge.
struct AllEntries {
  static constexpr bool kListed = false;

  template <class Program>
  __device__ __forceinline__ static Vertex target(const Program& program, Vertex, const Row& row,
                                                  std::uint32_t index) {
    return program.graph.target(row.offset + index);
  }

  std::uint64_t most;  ///< so many

  __device__ __forceinline__ std::uint64_t operator[](std::uint64_t turn) const { return turn; }
  __device__ __forceinline__ std::uint64_t size() const { return most; }
  /// Calls body(turn) for `first`, or for every step behind it; body may ask whether there is such a turn.
  template <class Body>
  __device__ __forceinline__ void each(std::uint64_t first, std::uint64_t, const Body& body) const {
    body(first);
  }
};

/// Some that are listed, by a grid that may be smaller. `counted` not null: no more than that are.
struct ListedEntries {
  static constexpr bool kListed = true;

  template <class Program>
  __device__ __forceinline__ static Vertex target(const Program& program, Vertex v, const Row& row,
                                                  std::uint32_t index) {
    return program.target_on_page(v, row, index);
  }

  const std::uint32_t* entries;
  std::uint64_t most;
  const unsigned long long* counted = nullptr;

  __device__ __forceinline__ std::uint64_t operator[](std::uint64_t turn) const { return entries[turn]; }
  __device__ __forceinline__ std::uint64_t size() const { return counted ? *counted : most; }
  template <class Body>
  __device__ __forceinline__ void each(std::uint64_t first, std::uint64_t step, const Body& body) const {
    const std::uint64_t count = size();
    for (std::uint64_t turn = first; turn < count; turn += step) body(turn);
  }
};

}  // namespace sluice::samples::cuda
