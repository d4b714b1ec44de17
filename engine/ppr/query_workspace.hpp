// The memory in which a block of a GPU answers one query (the host's is host_workspace.hpp). Its size is
// fixed before the query begins. A query that reaches more vertices than fit is abandoned, and asked again in
// a larger workspace. The result of a query does not depend on its workspace.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/sub_graph_view.hpp"

namespace sluice::ppr {

/// A vertex that a query has reached, in one 32-byte sector of GPU memory or in half of one. M: Mass, or
/// CoarseMass.
template <class M>
struct alignas(4 * sizeof(M)) WorkspaceEntry {
  M score = 0;
  M residual = 0;             ///< residual: mass to be split
  M moving = 0;               ///< mass that follows the edges in this round
  Vertex vertex = kNoVertex;  ///< kNoVertex: the slot is free
};

/// A vertex in the order of result lists: by falling key, then by rising id.
struct RankedVertex {
  std::uint64_t key = 0;
  Vertex vertex = 0;

  SLUICE_HD bool before(const RankedVertex& other) const {
    return key != other.key ? key > other.key : vertex < other.vertex;
  }
};

/// As fetch_add(), by the lanes of a group; a plain addition in a group of one.
template <class Group, class T>
SLUICE_HD T group_add(T* at, std::type_identity_t<T> more) {
  if constexpr (Group::kSize == 1) {
    const T before = *at;
    *at = before + more;
    return before;
  } else {
    return fetch_add(at, more);
  }
}

/// Sizes of a table of vertices, and of memory to sort some of them.
struct WorkspacePart {
  std::uint64_t slots = 0, limit = 0, ranked = 0;  ///< limit: the most vertices it holds

  /// For about `reached` vertices, a power of two: a hash table at most half full, or a slot per vertex if
  /// that is not larger.
  static WorkspacePart of(std::uint64_t reached, std::uint64_t vertices, std::uint64_t ranked) {
    const std::uint64_t all = std::max<std::uint64_t>(vertices, 1);
    if (2 * reached >= all) return {all, all, std::min(ranked, all)};
    return {2 * reached, reached, std::min(ranked, reached)};
  }
  bool holds_all() const { return slots == limit; }
  /// The shift of the hash that finds a slot.
  int shift() const { return 64 - std::countr_zero(std::max<std::uint64_t>(std::bit_floor(slots), 2)); }
};

/// Pointers into a workspace; trivially copyable.
struct WorkspaceView {
  void* entries = nullptr;             ///< [slots] WorkspaceEntry
  RankedVertex* ranked = nullptr;      ///< [ranked]
  std::uint32_t* reached = nullptr;    ///< [limit] slots in use
  std::uint32_t* lists[2] = {};        ///< [limit] frontier lists (slots) of this round and the next
  std::uint64_t slots = 0, limit = 0;  ///< limit: the most vertices it holds
  std::uint64_t mask = 0;              ///< 0: one slot per vertex
  int shift = 0;
  std::uint64_t second = 0;  ///< offset in bytes of the query's second workspace; 0: none
  std::uint64_t steps = 0;   ///< offset in bytes of mass_by_step()
  WorkspacePart second_part;
  int second_shift = 0;
  std::uint64_t sub_graph = 0;  ///< offset in bytes of the ball's sub-graph
  std::uint64_t edges = 0;      ///< the most that the sub-graph holds
  bool weighted = false;        ///< the sub-graph has weights
  /// Memory for a complete sub-graph, if it fits; on a GPU shared memory.
  unsigned char* fast = nullptr;
  std::uint64_t fast_bytes = 0;

  template <class M>
  SLUICE_HD WorkspaceEntry<M>* entries_of() const {
    return static_cast<WorkspaceEntry<M>*>(entries);
  }
  SLUICE_HD std::uint64_t first_slot(Vertex vertex) const {
    return mask == 0 ? vertex : (vertex * std::uint64_t{0x9e3779b97f4a7c15u}) >> shift;
  }
  /// The memory of the sub-graph, for a ball that fills the workspace.
  template <class M>
  SLUICE_HD SubGraphView<M> sub_graph_of() const {
    return SubGraphView<M>::place(static_cast<unsigned char*>(entries) + sub_graph,
                                  {limit, limit, edges, weighted});
  }
  /// [steps], after the second workspace.
  SLUICE_HD Mass* mass_by_step() const {
    return reinterpret_cast<Mass*>(static_cast<unsigned char*>(entries) + steps);
  }
};

/// The size of a workspace.
struct WorkspaceShape : WorkspacePart {
  std::uint64_t sort_entries = 0;  ///< entries for sorting
  std::uint64_t steps = 0;  ///< one_by_one: of the longest stage; a query then has two workspaces
  std::uint64_t table = 0;  ///< vertices that the second holds, a power of two; 0: as many as the first
  WorkspacePart second;
  std::uint64_t entry_bytes = sizeof(WorkspaceEntry<Mass>);
  bool sub_graphs = false;     ///< one_by_one: it holds a ball's sub-graph
  bool weighted = false;       ///< with weights
  std::uint64_t edges = 0;     ///< the most that a sub-graph has
  std::uint64_t graph_edges = 0;  ///< edges of the graph

  /// For about `reached` vertices, as WorkspacePart::of(). `ranked` entries are for sorting a list.
  static WorkspaceShape of(std::uint64_t reached, std::uint64_t vertices, std::uint64_t ranked,
                           std::uint64_t steps = 0, std::uint64_t table = 0) {
    WorkspaceShape shape;
    shape.sort_entries = ranked, shape.steps = steps, shape.table = table;
    return shape.resized(reached, vertices);
  }
  /// The same for another number of vertices. A sub-graph can hold all edges; in a smaller workspace it can
  /// hold lists that are somewhat longer than usual.
  WorkspaceShape resized(std::uint64_t reached, std::uint64_t vertices) const {
    constexpr std::uint64_t kEdgesOfVertex = 16;
    WorkspaceShape shape = *this;
    static_cast<WorkspacePart&>(shape) = WorkspacePart::of(reached, vertices, sort_entries);
    shape.second = table == 0 ? shape : WorkspacePart::of(table, vertices, sort_entries);
    if (sub_graphs)
      shape.edges = shape.holds_all() ? graph_edges : std::min(graph_edges, kEdgesOfVertex * shape.limit);
    return shape;
  }

  /// Bytes per query; the workspaces of queries are contiguous.
  std::uint64_t bytes() const {
    return steps == 0 ? bytes_of(*this) : sub_graph_offset() + sub_graph_bytes();
  }
  WorkspaceView view(unsigned char* at) const {
    WorkspaceView view = layout(at, *this, shift(), entry_bytes);
    if (steps == 0) return view;
    view.second = bytes_of(*this), view.steps = view.second + bytes_of(second);
    view.second_part = second, view.second_shift = second.shift();
    view.sub_graph = sub_graph_offset(), view.edges = edges, view.weighted = weighted;
    return view;
  }
  /// The workspace that lies `bytes` further on.
  SLUICE_HD static WorkspaceView shifted(const WorkspaceView& view, std::uint64_t bytes) {
    const auto moved = [bytes](auto* at) {
      return reinterpret_cast<decltype(at)>(reinterpret_cast<unsigned char*>(at) + bytes);
    };
    WorkspaceView other = view;
    other.entries = moved(view.entries), other.ranked = moved(view.ranked);
    other.reached = moved(view.reached);
    for (int list = 0; list < 2; ++list) other.lists[list] = moved(view.lists[list]);
    return other;
  }
  /// The second workspace of the same query.
  template <class M>
  SLUICE_HD static WorkspaceView second_of(const WorkspaceView& view) {
    return layout(static_cast<unsigned char*>(view.entries) + view.second, view.second_part,
                  view.second_shift, sizeof(WorkspaceEntry<M>));
  }

 private:
  SLUICE_HD static WorkspaceView layout(unsigned char* at, const WorkspacePart& part, int shift,
                                        std::uint64_t entry_bytes) {
    WorkspaceView view;
    view.slots = part.slots, view.limit = part.limit;
    view.mask = part.slots == part.limit ? 0 : part.slots - 1;
    view.shift = shift;
    view.entries = at;
    view.ranked = reinterpret_cast<RankedVertex*>(at + part.slots * entry_bytes);
    view.reached = reinterpret_cast<std::uint32_t*>(view.ranked + part.ranked);
    view.lists[0] = view.reached + part.limit;
    view.lists[1] = view.lists[0] + part.limit;
    return view;
  }

  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
  std::uint64_t bytes_of(const WorkspacePart& part) const {
    return rounded(part.slots * entry_bytes + part.ranked * sizeof(RankedVertex) + part.limit * 12);
  }
  std::uint64_t sub_graph_offset() const {
    return bytes_of(*this) + bytes_of(second) + rounded(steps * sizeof(Mass));
  }
  std::uint64_t sub_graph_bytes() const {
    if (!sub_graphs) return 0;
    const SubGraphSize size{limit, limit, edges, weighted};
    const bool coarse = entry_bytes == sizeof(WorkspaceEntry<CoarseMass>);
    return rounded(coarse ? SubGraphView<CoarseMass>::bytes(size) : SubGraphView<Mass>::bytes(size));
  }
};

}  // namespace sluice::ppr
