// Binary search in code that a GPU runs too. (The standard library's upper_bound, called there by way of
// constexpr, was seen to return one entry too few on sm_90, CUDA 13.0.)
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// How many numbers from 0 on, at most `count`, come before the first for which `holds` is false; it is for
/// all that follow. Lanes of a warp do not diverge: nothing but the number of steps depends on what is found.
template <class Index, class Holds>
SLUICE_HD Index count_while(Index count, const Holds& holds) {
  Index low = 0;
  while (count > 0) {
    const Index half = count / 2;
    const bool held = holds(low + half);
    low = held ? low + half + 1 : low;
    count = held ? count - half - 1 : half;
  }
  return low;
}

/// How many of `count` ascending values are below `bound`.
template <class T>
SLUICE_HD std::uint64_t count_below(const T* values, std::uint64_t count, T bound) {
  return count_while(count, [&](std::uint64_t i) { return values[i] < bound; });
}

}  // namespace sluice
