// A sort by one group of lanes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// Sorts by before(a, b), on several lanes by a bitonic sort in its all-ascending form: entries beyond `size`
/// are last.
template <class Group, class T, class Before>
SLUICE_HD void group_sort(const Group& group, T* data, std::uint64_t size, const Before& before) {
  if constexpr (Group::kSize == 1) {
    std::sort(data, data + size, before);
    return;
  }
  const auto exchange = [&](std::uint64_t low, std::uint64_t high) {
    if (high < size && before(data[high], data[low])) {
      const T swap = data[low];
      data[low] = data[high];
      data[high] = swap;
    }
  };
  for (std::uint64_t run = 2; run / 2 < size; run *= 2) {
    for (std::uint64_t i = group.rank(); i < size; i += Group::kSize) {
      if ((i & (run - 1)) < run / 2) exchange(i, i ^ (run - 1));
    }
    group.sync();
    for (std::uint64_t stride = run / 4; stride > 0; stride /= 2) {
      for (std::uint64_t i = group.rank(); i < size; i += Group::kSize) {
        if ((i & stride) == 0) exchange(i, i ^ stride);
      }
      group.sync();
    }
  }
}

/// Sorts ascending.
template <class Group, class T>
SLUICE_HD void group_sort(const Group& group, T* data, std::uint64_t size) {
  group_sort(group, data, size, [](const T& a, const T& b) { return a < b; });
}

}  // namespace sluice
