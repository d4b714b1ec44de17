// A hash set and a sort for one group of lanes, in memory of its own; on the host the group is one lane.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// Open-addressing set of integers over `capacity` (a power of two, more than half of it unused) slots.
template <class Key>
struct GroupSet {
  static constexpr Key kEmpty = ~Key{0};

  Key* slots;
  std::uint64_t capacity;

  template <class Group>
  SLUICE_HD void clear(const Group& group) const {
    for (std::uint64_t i = group.rank(); i < capacity; i += Group::kSize) slots[i] = kEmpty;
    group.sync();
  }
  SLUICE_HD bool has(Key key) const {
    for (std::uint64_t slot = first_slot(key);; slot = (slot + 1) & (capacity - 1)) {
      if (slots[slot] == key) return true;
      if (slots[slot] == kEmpty) return false;
    }
  }
  /// Inserts a key that is not in the set. Lanes may insert different keys at the same time.
  SLUICE_HD void insert(Key key) const {
    std::uint64_t slot = first_slot(key);
    while (!claim(slots + slot, key)) slot = (slot + 1) & (capacity - 1);
  }

 private:
  SLUICE_HD std::uint64_t first_slot(Key key) const {
    return (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15ull >> 24) & (capacity - 1);
  }
  SLUICE_HD static bool claim(Key* slot, Key key) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Key) == 8) {
      return atomicCAS(reinterpret_cast<unsigned long long*>(slot), static_cast<unsigned long long>(kEmpty),
                       static_cast<unsigned long long>(key)) == static_cast<unsigned long long>(kEmpty);
    } else {
      return atomicCAS(slot, kEmpty, key) == kEmpty;
    }
#else
    if (*slot != kEmpty) return false;
    *slot = key;
    return true;
#endif
  }
};

/// Smallest power of two, at least 16, that leaves more than half of the slots unused.
SLUICE_HD std::uint64_t set_capacity(std::uint64_t keys) {
  std::uint64_t capacity = 16;
  while (capacity < 2 * keys + 2) capacity *= 2;
  return capacity;
}

/// Sorts ascending, on GPUs by a bitonic sort in its all-ascending form; entries beyond `size` are infinite.
template <class Group, class T>
SLUICE_HD void group_sort(const Group& group, T* data, std::uint64_t size) {
#if !defined(__CUDA_ARCH__)
  (void)group;
  std::sort(data, data + size);
#else
  const auto exchange = [&](std::uint64_t low, std::uint64_t high) {
    if (high < size && data[high] < data[low]) {
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
#endif
}

}  // namespace sluice
