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
  std::span<const Vertex> vertices{};           ///< ascending; empty: all vertices of the range
  const ListColumns* vertex_columns = nullptr;  ///< for each of `vertices`, in place of `columns`

  ListColumns list_of(Vertex v) const {
    if (vertex_columns == nullptr) return columns;
    const auto found = std::ranges::lower_bound(vertices, v);
    return found != vertices.end() && *found == v ? vertex_columns[found - vertices.begin()] : ListColumns{};
  }
};

/// All available lists, as ranges in ascending order that do not overlap.
class AvailableLists {
 public:
  AvailableLists() = default;
  explicit AvailableLists(std::span<const ListRange> ranges) : ranges_(ranges) {}

  std::span<const ListRange> ranges() const { return ranges_; }
  ListColumns list_of(Vertex v) const {
    const auto next_range =
        std::upper_bound(ranges_.begin(), ranges_.end(), v,
                         [](Vertex vertex, const ListRange& range) { return vertex < range.begin; });
    if (next_range == ranges_.begin() || v >= next_range[-1].end) return {};
    return next_range[-1].list_of(v);
  }

 private:
  std::span<const ListRange> ranges_;
};

}  // namespace sluice::ppr
