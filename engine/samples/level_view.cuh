// A level as kernels see it, and which of its entries a launch works on.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/samples/level.hpp"

namespace sluice::samples::cuda {

/// Pointers into a SampleLevel.
struct LevelView {
  std::uint64_t entries, edges;
  std::uint32_t fanout;
  const FrontierEntry* frontier;
  std::uint64_t *offsets, *earlier_edges;
  const std::uint64_t* instance_entries;
  std::uint32_t* indices;
  Vertex* targets;
  std::uint32_t* owners;
  Vertex* parents;  // dynamic samplers only, as `available`
  std::uint32_t* available;
  Vertex* arrivals;  // samplers with an update on graphs in partitions only

  __device__ __forceinline__ std::uint64_t offset(std::uint64_t entry) const {
    return fanout ? entry * fanout : offsets[entry];
  }
  /// Index of an instance's first edge, or where it would be if there is none.
  __device__ __forceinline__ std::uint64_t first_edge(std::uint64_t instance) const {
    return offset(instance_entries[instance]);
  }
  /// Number of the instance's edges, at all depths, before an edge of this level.
  __device__ __forceinline__ std::uint64_t edges_before(std::uint32_t instance, std::uint64_t edge) const {
    return earlier_edges[instance] + (edge - first_edge(instance));
  }
  __device__ __forceinline__ std::uint64_t owner(std::uint64_t edge) const {
    return fanout ? edge / fanout : owners[edge];
  }
  /// Stores an edge of an entry: its index in the entry's list and its target.
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
          level.earlier_edges.data(),
          level.instance_entries.data(),
          level.indices.data(),
          level.targets.data(),
          level.owners.data(),
          level.parents.data(),
          level.available.data(),
          level.arrivals.data()};
}

/// All entries of a level, for a launch: one entry per group of lanes. For whole graphs only,
/// which are not coded: a test for codes would add a branch to every edge.
struct AllEntries {
  static constexpr bool kListed = false;

  template <class Program>
  __device__ __forceinline__ static Vertex target(const Program& program, Vertex, const Row& row,
                                                  std::uint32_t index) {
    return program.graph.target(row.offset + index);
  }

  std::uint64_t max_count;  ///< number of entries

  __device__ __forceinline__ std::uint64_t operator[](std::uint64_t item) const { return item; }
  __device__ __forceinline__ std::uint64_t size() const { return max_count; }
  /// Calls body(first); ListedEntries also calls it for every `step` after `first`. body tests item < size().
  template <class Body>
  __device__ __forceinline__ void each(std::uint64_t first, std::uint64_t, const Body& body) const {
    body(first);
  }
};

/// Listed entries of a level, for a launch; its grid may be smaller. If `device_count` is not null, it holds
/// the number of entries in device memory, and `max_count` is an upper bound.
struct ListedEntries {
  static constexpr bool kListed = true;

  template <class Program>
  __device__ __forceinline__ static Vertex target(const Program& program, Vertex v, const Row& row,
                                                  std::uint32_t index) {
    return program.target_on_page(v, row, index);
  }

  const std::uint32_t* list;
  std::uint64_t max_count;
  const unsigned long long* device_count = nullptr;

  __device__ __forceinline__ std::uint64_t operator[](std::uint64_t item) const { return list[item]; }
  __device__ __forceinline__ std::uint64_t size() const { return device_count ? *device_count : max_count; }
  template <class Body>
  __device__ __forceinline__ void each(std::uint64_t first, std::uint64_t step, const Body& body) const {
    const std::uint64_t count = size();
    for (std::uint64_t item = first; item < count; item += step) body(item);
  }
};

}  // namespace sluice::samples::cuda
