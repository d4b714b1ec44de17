// A workspace at work: lanes of a group find and enter vertices in its table, and put slots on its lists.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// What the lanes count together.
struct WorkspaceCounts {
  std::uint32_t reached;
  std::uint32_t full;     ///< not 0: something did not fit
  std::uint32_t lacking;  ///< lists that are not at hand, perhaps several times
  std::uint32_t listed[2];
};

/// Balls of a query that a team is given; none: the team has no more to do.
struct BallOrder {
  std::uint32_t first = 0, count = 0;  ///< among the vertices that the stage goes on from
  std::uint32_t steps = 0;
};

/// M is what it stores masses as. Extracts: a ball may have its sub-graph there.
template <class Group, class M = Mass, bool Extracts = false>
class GroupWorkspace {
 public:
  using Entry = WorkspaceEntry<M>;
  static constexpr bool kExtracts = Extracts;
  static constexpr bool kAlone = false;  ///< see methods/diffusion.hpp
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

  // Counts are read where a barrier lies behind their last change.
  SLUICE_HD std::uint32_t reached() const { return counts_.reached; }
  SLUICE_HD bool full() const { return counts_.full != 0; }
  SLUICE_HD std::uint32_t lacking() const { return counts_.lacking; }
  /// Nothing more can come of the query in this workspace, and with these lists.
  SLUICE_HD bool stopped() const { return full() || lacking() != 0; }
  SLUICE_HD std::uint32_t listed(unsigned list) const { return counts_.listed[list]; }

  SLUICE_HD Entry& operator[](std::uint64_t slot) const { return workspace_.entries_of<M>()[slot]; }
  SLUICE_HD std::uint32_t reached_slot(std::uint32_t i) const { return workspace_.reached[i]; }
  SLUICE_HD std::uint32_t listed_slot(unsigned list, std::uint32_t i) const {
    return workspace_.lists[list][i];
  }
  SLUICE_HD RankedVertex* ranked(std::uint32_t) const { return workspace_.ranked; }
  SLUICE_HD RankedVertex& ranked_at(std::uint32_t i) const { return workspace_.ranked[i]; }

  /// The vertex's slot; kNoSlot where the workspace is full. Where every vertex has its slot it never is: a
  /// lane may see a slot free that another takes as the last one.
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
          enter(slot);
          return slot;
        }
      }
      if (found == vertex) return slot;
    }
  }

  /// Of a vertex that it has, or kNoSlot. No lane enters vertices meanwhile.
  SLUICE_HD std::uint64_t find(Vertex vertex) const {
    for (std::uint64_t slot = workspace_.first_slot(vertex);; slot = (slot + 1) & workspace_.mask) {
      const Vertex found = (*this)[slot].vertex;
      if (found == vertex) return slot;
      if (found == kNoVertex) return kNoSlot;
    }
  }

  /// Does it take all of so many vertices? If not, the workspace is full from now on: for a query that is to
  /// reach them.
  SLUICE_HD bool takes(std::uint64_t vertices) const {
    if (vertices <= workspace_.limit) return true;
    if (group_.rank() == 0) fetch_add(&counts_.full, 1u);
    return false;
  }
  /// It is full from now on.
  SLUICE_HD void give_up() const {
    group_.sync();
    if (group_.rank() == 0) fetch_add(&counts_.full, 1u);
    group_.sync();
  }

  /// A list is not at hand.
  SLUICE_HD void lack() const { fetch_add(&counts_.lacking, 1u); }

  /// A list takes all vertices.
  SLUICE_HD void expect_listed(std::uint32_t) const {}
  SLUICE_HD void list(unsigned which, std::uint64_t slot) const {
    const std::uint32_t place = fetch_add(&counts_.listed[which], 1u);
    if (place < workspace_.limit) workspace_.lists[which][place] = static_cast<std::uint32_t>(slot);
  }
  /// Once all lanes have read it.
  SLUICE_HD void empty_list(unsigned which) const {
    if (group_.rank() == 0) counts_.listed[which] = 0;
    group_.sync();
  }

  // ---- the sub-graph of a ball: local ids are numbers in the order in which vertices were reached

  /// Where it is put together, with slots as targets.
  SLUICE_HD SubGraphView<M> sub_graph() const { return workspace_.sub_graph_of<M>(); }
  /// Does it take so many edges? If not, the workspace is full from now on. All lanes ask.
  SLUICE_HD bool takes_edges(std::uint64_t edges) const {
    if (edges <= workspace_.edges) return true;
    give_up();
    return false;
  }
  SLUICE_HD void expect_lists(const SubGraphSize&) const {}
  /// Where it goes when it is known, with local ids.
  SLUICE_HD SubGraphView<M> place_sub_graph(const SubGraphSize& size) const {
    if (SubGraphView<M>::bytes(size) > workspace_.fast_bytes) return sub_graph();
    return SubGraphView<M>::place(workspace_.fast, size);
  }
  /// Once a slot has its number in `moving`, as long as the ball is extracted.
  SLUICE_HD void number_reached() const {
    for (std::uint32_t i = group_.rank(); i < reached(); i += Group::kSize)
      (*this)[reached_slot(i)].moving = static_cast<M>(i);
    group_.sync();
  }
  SLUICE_HD std::uint32_t number_of(std::uint64_t slot) const {
    return static_cast<std::uint32_t>((*this)[slot].moving);
  }

  /// Nothing where the workspace is full.
  template <class Use>
  SLUICE_HD void for_each_reached(Use&& use) const {
    const std::uint32_t size = full() ? 0 : reached();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) use((*this)[workspace_.reached[i]]);
  }

  /// The same, and forgets them.
  template <class Use>
  SLUICE_HD void take_reached(Use&& use) const {
    for_each_reached([&](Entry& entry) {
      use(entry);
      entry = Entry{};
    });
    forget();
  }

  /// Once its entries are as they were in the beginning, and nothing is reached.
  SLUICE_HD void forget() const {
    group_.sync();
    if (group_.rank() == 0) counts_ = WorkspaceCounts{};
    group_.sync();
  }

  /// Makes it empty for the next query.
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
  /// Lanes that came at once may go past the limit: half of the table is free for them.
  SLUICE_HD void enter(std::uint64_t slot) const {
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
