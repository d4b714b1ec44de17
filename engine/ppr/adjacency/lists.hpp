// Lists that queries on the host can read now: those of a whole graph, or of some ranges of vertices if lists
// are fetched on demand (adjacency/feeder.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/core/macros.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// The columns of lists, indexed by positions in the whole graph, as offsets say.
struct ListColumns {
  const Vertex* targets = nullptr;  ///< null: the list is not available
  const float* weights = nullptr;   ///< null unless the run is weighted
};

/// The lists of vertices [begin, end), or of some of them.
struct ListRange {
  std::uint64_t begin = 0, end = 0;
  ListColumns columns;
  std::span<const Vertex> only{};     ///< ascending; empty: all vertices of the range
  const ListColumns* each = nullptr;  ///< for each of `only`, in place of `columns`

  ListColumns of(Vertex v) const {
    if (each == nullptr) return columns;
    const auto at = std::ranges::lower_bound(only, v);
    return at != only.end() && *at == v ? each[at - only.begin()] : ListColumns{};
  }
};

/// All available lists, as ranges in ascending order that do not overlap.
class ListsAtHand {
 public:
  ListsAtHand() = default;
  explicit ListsAtHand(std::span<const ListRange> ranges) : ranges_(ranges) {}

  std::span<const ListRange> ranges() const { return ranges_; }
  ListColumns of(Vertex v) const {
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), v,
                         [](Vertex vertex, const ListRange& range) { return vertex < range.begin; });
    if (behind == ranges_.begin() || v >= behind[-1].end) return {};
    return behind[-1].of(v);
  }

 private:
  std::span<const ListRange> ranges_;
};

}  // namespace sluice::ppr
