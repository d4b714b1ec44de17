// A workspace in use: lanes of a group find and insert vertices in its table, and fill its frontier lists.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// Counts that the lanes share.
struct WorkspaceCounts {
  std::uint32_t reached;
  std::uint32_t full;     ///< not 0: something did not fit
  std::uint32_t missing_lists;  ///< missing lists; some count several times
  std::uint32_t listed[2];
};

/// Balls of a query that a team is to diffuse; a count of 0 ends the team.
struct BallOrder {
  std::uint32_t first = 0, count = 0;  ///< among the vertices that the stage expands
  std::uint32_t steps = 0;
};

/// M: the type of stored masses. Extracts: the workspace may hold the sub-graph of a ball.
template <class Group, class M = Mass, bool Extracts = false>
class GroupWorkspace {
 public:
  using Entry = WorkspaceEntry<M>;
  static constexpr bool kExtracts = Extracts;
  static constexpr bool kSingleThread = false;  ///< see methods/diffusion.hpp
  static constexpr bool kHasTeam = false;
  static constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};
  using Memory = const WorkspaceView;

  SLUICE_HD GroupWorkspace(const Group& group, WorkspaceCounts& counts, const WorkspaceView& workspace)
      : group_(group), counts_(counts), workspace_(workspace) {
    if (group_.rank() == 0) counts_ = WorkspaceCounts{};
    group_.sync();
  }

  SLUICE_HD static WorkspaceView second(const WorkspaceView& workspace) {
    return WorkspaceShape::second_of<M>(workspace);
  }

  // Counts are read only after a barrier that follows their last change.
  SLUICE_HD std::uint32_t reached() const { return counts_.reached; }
  SLUICE_HD bool full() const { return counts_.full != 0; }
  SLUICE_HD std::uint32_t missing_lists() const { return counts_.missing_lists; }
  /// True if the query cannot continue in this workspace with the available lists.
  SLUICE_HD bool stopped() const { return full() || missing_lists() != 0; }
  SLUICE_HD std::uint32_t listed(unsigned list) const { return counts_.listed[list]; }

  SLUICE_HD Entry& operator[](std::uint64_t slot) const { return workspace_.entries_of<M>()[slot]; }
  SLUICE_HD std::uint32_t reached_slot(std::uint32_t i) const { return workspace_.reached[i]; }
  SLUICE_HD std::uint32_t listed_slot(unsigned list, std::uint32_t i) const {
    return workspace_.lists[list][i];
  }
  SLUICE_HD RankedVertex* ranked(std::uint32_t) const { return workspace_.ranked; }
  SLUICE_HD RankedVertex& ranked_at(std::uint32_t i) const { return workspace_.ranked[i]; }

  /// Returns the slot of the vertex, inserted if new; kNoSlot if the workspace is full. With a slot per
  /// vertex it is never full: the limit is not checked, as another lane may take the last slot seen free.
  SLUICE_HD std::uint64_t slot_of(Vertex vertex) const {
    for (std::uint64_t slot = workspace_.first_slot(vertex);; slot = (slot + 1) & workspace_.mask) {
      Vertex* const at = &(*this)[slot].vertex;
      Vertex found = load(at);
      if (found == kNoVertex) {
        if (workspace_.mask != 0 && fetch_add(&counts_.reached, 0u) >= workspace_.limit) {
          fetch_add(&counts_.full, 1u);
          return kNoSlot;
        }
        if (exchange(at, found, vertex)) {
          append_reached(slot);
          return slot;
        }
      }
      if (found == vertex) return slot;
    }
  }

  /// Returns the slot of a vertex, or kNoSlot if it is absent. No lane may insert vertices meanwhile.
  SLUICE_HD std::uint64_t find(Vertex vertex) const {
    for (std::uint64_t slot = workspace_.first_slot(vertex);; slot = (slot + 1) & workspace_.mask) {
      const Vertex found = (*this)[slot].vertex;
      if (found == vertex) return slot;
      if (found == kNoVertex) return kNoSlot;
    }
  }

  /// True if the workspace can hold `vertices` vertices. If not, it counts as full from now on: the query is
  /// to reach all of them.
  SLUICE_HD bool can_hold(std::uint64_t vertices) const {
    if (vertices <= workspace_.limit) return true;
    if (group_.rank() == 0) fetch_add(&counts_.full, 1u);
    return false;
  }
  /// Marks the workspace as full.
  SLUICE_HD void set_full() const {
    group_.sync();
    if (group_.rank() == 0) fetch_add(&counts_.full, 1u);
    group_.sync();
  }

  /// Notes a missing list.
  SLUICE_HD void note_missing_list() const { fetch_add(&counts_.missing_lists, 1u); }

  /// Nothing to reserve: each list can hold all vertices.
  SLUICE_HD void reserve_listed(std::uint32_t) const {}
  SLUICE_HD void append_listed(unsigned which, std::uint64_t slot) const {
    const std::uint32_t place = fetch_add(&counts_.listed[which], 1u);
    if (place < workspace_.limit) workspace_.lists[which][place] = static_cast<std::uint32_t>(slot);
  }
  /// Only after all lanes have read the list.
  SLUICE_HD void empty_list(unsigned which) const {
    if (group_.rank() == 0) counts_.listed[which] = 0;
    group_.sync();
  }

  // ---- the sub-graph of a ball: local ids number the vertices in the order in which they were reached

  /// The sub-graph under construction; its targets are slots.
  SLUICE_HD SubGraphView<M> sub_graph() const { return workspace_.sub_graph_of<M>(); }
  /// True if `edges` edges fit. If not, the workspace counts as full from now on. All lanes call it.
  SLUICE_HD bool can_hold_edges(std::uint64_t edges) const {
    if (edges <= workspace_.edges) return true;
    set_full();
    return false;
  }
  SLUICE_HD void reserve_lists(const SubGraphSize&) const {}
  /// The final place of a sub-graph of known size, with local ids.
  SLUICE_HD SubGraphView<M> place_sub_graph(const SubGraphSize& size) const {
    if (SubGraphView<M>::bytes(size) > workspace_.fast_bytes) return sub_graph();
    return SubGraphView<M>::place(workspace_.fast, size);
  }
  /// Stores each vertex's number in `moving` of its slot, for the time of the extraction.
  SLUICE_HD void number_reached() const {
    for (std::uint32_t i = group_.rank(); i < reached(); i += Group::kSize)
      (*this)[reached_slot(i)].moving = static_cast<M>(i);
    group_.sync();
  }
  SLUICE_HD std::uint32_t number_of(std::uint64_t slot) const {
    return static_cast<std::uint32_t>((*this)[slot].moving);
  }

  /// Calls use(entry) for each reached vertex; for none if the workspace is full.
  template <class Use>
  SLUICE_HD void for_each_reached(Use&& use) const {
    const std::uint32_t size = full() ? 0 : reached();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) use((*this)[workspace_.reached[i]]);
  }

  /// As for_each_reached(), and then forgets the vertices.
  template <class Use>
  SLUICE_HD void drain_reached(Use&& use) const {
    for_each_reached([&](Entry& entry) {
      use(entry);
      entry = Entry{};
    });
    reset();
  }

  /// Resets the counts; all entries must be empty already.
  SLUICE_HD void reset() const {
    group_.sync();
    if (group_.rank() == 0) counts_ = WorkspaceCounts{};
    group_.sync();
  }

  /// Empties the workspace for the next query.
  SLUICE_HD void clear() const {
    group_.sync();
    if (full()) {
      for (std::uint64_t slot = group_.rank(); slot < workspace_.slots; slot += Group::kSize)
        (*this)[slot] = Entry{};
    } else {
      for_each_reached([](Entry& entry) { entry = Entry{}; });
    }
    group_.sync();
  }

 private:
  /// Lanes that insert at the same time may exceed the limit: half of the table is free for them.
  SLUICE_HD void append_reached(std::uint64_t slot) const {
    const std::uint32_t number = fetch_add(&counts_.reached, 1u);
    if (number < workspace_.limit) {
      workspace_.reached[number] = static_cast<std::uint32_t>(slot);
    } else {
      fetch_add(&counts_.full, 1u);
    }
  }

  Group group_;
  WorkspaceCounts& counts_;
  WorkspaceView workspace_;
};

}  // namespace sluice::ppr
