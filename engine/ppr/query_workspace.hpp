// The memory in which a group of threads answers one query: a block on a GPU, one thread on the host. Its
// size is fixed before the query begins; one that reaches more vertices than fit is abandoned, and asked
// again in a larger workspace. What a query finds does not depend on its workspace.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/ppr/mass.hpp"

namespace sluice::ppr {

/// A vertex that a query has reached, in one sector of a GPU's memory.
struct alignas(32) WorkspaceEntry {
  Mass score = 0;
  Mass waiting = 0;           ///< mass to be split
  Mass moving = 0;            ///< what goes on along the edges in this round
  Vertex vertex = kNoVertex;  ///< kNoVertex: the slot is free
};

/// A vertex in the order of lists: by falling key, smaller ids first among equals.
struct RankedVertex {
  std::uint64_t key = 0;
  Vertex vertex = 0;

  SLUICE_HD bool before(const RankedVertex& other) const {
    return key != other.key ? key > other.key : vertex < other.vertex;
  }
};

/// As fetch_add(), by lanes of a group, which may be one alone.
template <class Group, class T>
SLUICE_HD T add_in(T* at, T more) {
  if constexpr (Group::kSize == 1) {
    const T before = *at;
    *at = before + more;
    return before;
  } else {
    return fetch_add(at, more);
  }
}

/// Pointers into a workspace; trivially copyable.
struct WorkspaceView {
  WorkspaceEntry* entries = nullptr;   ///< [slots]
  RankedVertex* ranked = nullptr;      ///< [ranked]
  std::uint32_t* reached = nullptr;    ///< [limit] slots in use
  std::uint32_t* lists[2] = {};        ///< [limit] slots whose mass is split in this round, and in the next
  std::uint64_t slots = 0, limit = 0;  ///< limit: vertices that it takes
  std::uint64_t mask = 0;              ///< 0: every vertex has its slot
  std::uint64_t second = 0;            ///< bytes to the same query's second workspace; 0: it has one alone
  int shift = 0;

  SLUICE_HD std::uint64_t first_slot(Vertex vertex) const {
    return mask == 0 ? vertex : (vertex * std::uint64_t{0x9e3779b97f4a7c15u}) >> shift;
  }
  /// [steps] behind the second workspace.
  SLUICE_HD Mass* by_step() const {
    return reinterpret_cast<Mass*>(reinterpret_cast<unsigned char*>(entries) + 2 * second);
  }
};

/// How large a workspace is.
struct WorkspaceShape {
  std::uint64_t slots = 0, limit = 0, ranked = 0;
  std::uint64_t asked = 0;  ///< for sorting
  std::uint64_t steps = 0;  ///< one by one: of the longest stage; a query has two workspaces then

  /// For about `reached` vertices, a power of two: a table at most half full, or a slot a vertex where that
  /// is no more. `ranked` entries are for sorting a list.
  static WorkspaceShape of(std::uint64_t reached, std::uint64_t vertices, std::uint64_t ranked,
                           std::uint64_t steps = 0) {
    const std::uint64_t all = std::max<std::uint64_t>(vertices, 1);
    if (2 * reached >= all) return {all, all, std::min(ranked, all), ranked, steps};
    return {2 * reached, reached, std::min(ranked, reached), ranked, steps};
  }

  bool takes_all() const { return slots == limit; }
  /// Of a query; queries lie side by side.
  std::uint64_t bytes() const {
    return steps == 0 ? workspace_bytes() : 2 * workspace_bytes() + rounded(steps * sizeof(Mass));
  }
  WorkspaceView view(unsigned char* at) const {
    WorkspaceView view;
    view.slots = slots, view.limit = limit;
    view.mask = takes_all() ? 0 : slots - 1;
    view.second = steps == 0 ? 0 : workspace_bytes();
    view.shift = 64 - std::countr_zero(std::max<std::uint64_t>(std::bit_floor(slots), 2));
    view.entries = reinterpret_cast<WorkspaceEntry*>(at);
    view.ranked = reinterpret_cast<RankedVertex*>(view.entries + slots);
    view.reached = reinterpret_cast<std::uint32_t*>(view.ranked + ranked);
    view.lists[0] = view.reached + limit;
    view.lists[1] = view.lists[0] + limit;
    return view;
  }
  /// The same workspace further on.
  SLUICE_HD static WorkspaceView move(const WorkspaceView& view, std::uint64_t bytes) {
    const auto moved = [bytes](auto* at) {
      return reinterpret_cast<decltype(at)>(reinterpret_cast<unsigned char*>(at) + bytes);
    };
    WorkspaceView other = view;
    other.entries = moved(view.entries), other.ranked = moved(view.ranked);
    other.reached = moved(view.reached);
    for (int list = 0; list < 2; ++list) other.lists[list] = moved(view.lists[list]);
    return other;
  }

 private:
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
  std::uint64_t workspace_bytes() const {
    return rounded(slots * sizeof(WorkspaceEntry) + ranked * sizeof(RankedVertex) + limit * 12);
  }
};

}  // namespace sluice::ppr
