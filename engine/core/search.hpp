// Binary search for host and device. (std::upper_bound, called on the device as a constexpr function, was
// seen to return one entry too few on sm_90, CUDA 13.0.)
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// The lowest i below `count` for which `holds` is false, or `count`. If `holds` is false for an i, it must
/// be false for all larger ones. Lanes of a warp do not diverge: they differ in the number of steps alone.
template <class Index, class Holds>
SLUICE_HD Index count_while(Index count, const Holds& holds) {
  Index low = 0;
  while (count > 0) {
    const Index half = count / 2;
    const bool holds_here = holds(low + half);
    low = holds_here ? low + half + 1 : low;
    count = holds_here ? count - half - 1 : half;
  }
  return low;
}

/// How many of `count` ascending values are below `bound`.
template <class T>
SLUICE_HD std::uint64_t count_below(const T* values, std::uint64_t count, T bound) {
  return count_while(count, [&](std::uint64_t i) { return values[i] < bound; });
}

}  // namespace sluice
