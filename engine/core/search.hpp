// Binary search in code that a GPU runs too. (The standard library's upper_bound, called there by way of
// constexpr, was seen to return one entry too few on sm_90, CUDA 13.0.)
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// How many of `count` ascending values are below `bound`.
template <class T>
SLUICE_HD std::uint64_t count_below(const T* values, std::uint64_t count, T bound) {
  std::uint64_t low = 0, high = count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (values[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace sluice
