// Edges of several lists, divided evenly among the lanes of a group for lists of any length: a prefix sum
// over the lists, and a binary search for each edge.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"

namespace sluice::ppr {

/// One list per lane; on a GPU in shared memory.
template <class Group>
struct EdgeChunk {
  std::uint64_t ends[Group::kSize], begins[Group::kSize];
  std::uint64_t shares[Group::kSize];  ///< per edge: mass, or a double per weight

  /// `degree`: edges of the lane's list; `begins` and `shares` may be set already. Returns the sum to all.
  SLUICE_HD std::uint64_t begin(const Group& group, std::uint64_t degree) {
    ends[group.rank()] = group.inclusive_scan(degree);
    group.sync();
    return ends[Group::kSize - 1];
  }
  /// The end of the lane's own edges, after begin().
  SLUICE_HD std::uint64_t end(const Group& group) const { return ends[group.rank()]; }

  /// Calls use(list, place in the list, place among all) for each edge; ends with a barrier.
  template <class Use>
  SLUICE_HD void for_each(const Group& group, std::uint64_t all, Use&& use) const {
    for (std::uint64_t at = group.rank(); at < all; at += Group::kSize) {
      const std::uint64_t list = Group::kSize == 1 ? 0 : count_below(ends, Group::kSize, at + 1);
      use(list, at - (list == 0 ? 0 : ends[list - 1]), at);
    }
    group.sync();
  }
};

}  // namespace sluice::ppr
