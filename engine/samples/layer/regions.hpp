// The part of a union of lists that is known while most of its lists are elsewhere.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// A candidate where the union's biases lie end to end: it takes [low, low + width).
struct LayerRegion {
  std::uint64_t low = 0;  ///< while the candidate is unknown, the point that was drawn in it
  std::uint64_t width = 1;
  std::uint32_t list = 0;     ///< in the frontier
  std::uint32_t index = 0;    ///< in the list
  Vertex target = kNoVertex;  ///< kNoVertex: the list was not here yet, and the candidate is unknown

  SLUICE_HD bool operator<(const LayerRegion& other) const { return low < other.low; }
};

/// The union as DistinctPicker sees it. A candidate's index is where its region begins. A point in no known
/// region stands for a candidate of its own: that is a guess, but for biases of 1.
struct LayerRegions {
  using Index = std::uint64_t;

  const LayerRegion* known;  ///< [count] ascending; the same region may come several times
  std::uint32_t count;
  std::uint64_t sum;  ///< of all biases

  SLUICE_HD std::uint64_t total() const { return sum; }
  SLUICE_HD std::uint64_t find(std::uint64_t x) const {
    const LayerRegion* const region = around(x);
    return region ? region->low : x;
  }
  SLUICE_HD std::uint64_t low(std::uint64_t index) const { return index; }
  SLUICE_HD std::uint64_t width(std::uint64_t index) const {
    const LayerRegion* const region = around(index);
    return region ? region->width : 1;
  }
  /// The known region that holds a point; null: none does.
  SLUICE_HD const LayerRegion* around(std::uint64_t x) const {
    std::uint32_t low = 0, high = count;  // regions before `low` begin at or below x
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (known[middle].low <= x) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0 || x - known[low - 1].low >= known[low - 1].width) return nullptr;
    return known + low - 1;
  }
};

}  // namespace sluice
