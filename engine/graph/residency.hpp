// Residency of a graph's lists, a policy chosen at compile time: nothing else knows which are resident.
#pragma once

#include <concepts>

#include "engine/graph/edge_set.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/partition_map.hpp"

namespace sluice {

/// This process reads all lists in place: it owns every vertex, sends nothing, and waits for no partition.
struct Whole {
  static constexpr bool kComplete = true;

  EdgeSet set = {};  ///< of all edges, if there is one

  SLUICE_HD Answer has_edge(const GraphView& graph, Vertex u, Vertex v) const {
    const Answer known = set.has_edge(u, v);
    if (known != Answer::unknown) return known;
    return graph.has_edge(u, v) ? Answer::yes : Answer::no;
  }
};

/// A rank reads the lists of its own vertices, perhaps in partitions that are transferred to the device.
struct Partitioned {
  static constexpr bool kComplete = false;

  PageMap map;
  EdgeSet set = {};  ///< of the edges of this rank, if there is one

  /// Looks edges up in the set and the partitions in slots; adds the bytes that are read in place to
  /// `bytes_read`.
  SLUICE_HD PagedEdgeLookup edge_lookup(std::uint64_t& bytes_read) const { return {map, set, bytes_read}; }
};

template <class R>
concept Residency = requires {
  { R::kComplete } -> std::convertible_to<bool>;
};

}  // namespace sluice
