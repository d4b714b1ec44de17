// A view of partitions for kernels: which slot holds a vertex's list, and the slot's columns.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/ownership.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/edge_set.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/graph/wide.hpp"

namespace sluice {

/// A pointer that is indexed by positions in the whole graph; `memory` holds those from `first` on.
template <class T>
T* rebase(T* memory, EdgeIndex first) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(memory) - first * sizeof(T));
}

/// Columns of one partition's edges. Each pointer is moved so that it is indexed by an edge's position in the
/// whole graph; only positions of the partition may be read. Null: a column that this run does not use.
struct PageView {
  Vertex* targets = nullptr;  ///< if lists are coded: in host memory, as are their weights
  float* weights = nullptr;
  std::uint64_t* cumulative = nullptr;  ///< CTPS
  std::uint64_t* thresholds = nullptr;  ///< alias slots
  std::uint32_t* others = nullptr;
  WideAlias* wide_alias = nullptr;
  CodedLists coded;  ///< words indexed as in the whole graph, and rows of all vertices
};

struct PageMap {
  static constexpr std::uint32_t kNoSlot = ~0u;

  OwnershipView owners;
  const std::uint32_t* slot_of = nullptr;  ///< [partitions], kNoSlot if it is in no slot
  const PageView* pages = nullptr;         ///< [slots], and one for all partitions read in place
  std::uint32_t in_place = kNoSlot;        ///< the slot of partitions that are read in place
  const CodedRow* rows = nullptr;          ///< of all lists, if these are coded

  SLUICE_HD std::uint32_t owner(Vertex v) const { return owners.owner(v); }
  SLUICE_HD std::uint32_t slot(Vertex v) const { return slot_of[owners.owner(v)]; }

  /// Searches the list of u if a slot holds it, else that of v if the graph is undirected and a slot holds
  /// it. Adds the bytes that are read in place to `bytes_read`.
  SLUICE_HD Answer has_edge(const GraphView& graph, Vertex u, Vertex v, std::uint64_t& bytes_read) const {
    const Row list_u = row(graph, u);
    if (list_u.degree == 0) return Answer::no;
    if (const std::uint32_t slot_index = slot(u); slot_index != kNoSlot)
      return search(graph, slot_index, u, list_u, v, bytes_read);
    if (!graph.undirected) return Answer::unknown;
    const Row list_v = row(graph, v);
    if (list_v.degree == 0) return Answer::no;
    if (const std::uint32_t slot_index = slot(v); slot_index != kNoSlot)
      return search(graph, slot_index, v, list_v, u, bytes_read);
    return Answer::unknown;
  }

  /// Bytes that a search of a list in slot `slot_index` reads in place; 0 if that slot is not read in place.
  SLUICE_HD std::uint32_t search_bytes(std::uint32_t slot_index, std::uint32_t degree) const {
    if (slot_index != in_place) return 0;
    return pages[slot_index].coded.words ? coded_search_bytes(degree) : search_reads(degree) * kTargetBytes;
  }

 private:
  /// Coded lists need no offset, which would be a second read.
  SLUICE_HD Row row(const GraphView& graph, Vertex v) const {
    return rows ? Row{0, rows[v].degree} : graph.row(v);
  }
  /// Whether the list of v, in slot `slot_index`, has the wanted vertex.
  SLUICE_HD Answer search(const GraphView& graph, std::uint32_t slot_index, Vertex v, const Row& list,
                          Vertex wanted, std::uint64_t& bytes_read) const {
    const PageView& page = pages[slot_index];
    bytes_read += search_bytes(slot_index, list.degree);
    if (page.coded.words) return page.coded.contains(graph.vertices(), v, wanted) ? Answer::yes : Answer::no;
    const Vertex* targets = page.targets + list.offset;
    const std::uint32_t i = count_while(list.degree, [&](std::uint32_t k) { return targets[k] < wanted; });
    return i < list.degree && targets[i] == wanted ? Answer::yes : Answer::no;
  }
};

/// Answers from the edge set and the partitions in slots, and counts the bytes that are read in place.
struct PagedEdgeLookup {
  const PageMap& map;
  EdgeSet set;
  std::uint64_t& bytes_read;

  SLUICE_HD Answer has_edge(const GraphView& graph, Vertex u, Vertex v) const {
    const Answer known = set.has_edge(u, v);
    return known == Answer::unknown ? map.has_edge(graph, u, v, bytes_read) : known;
  }
};

}  // namespace sluice
