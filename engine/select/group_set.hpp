// A hash set for one group of lanes, in memory of its own; on the host the group is one lane.
#pragma once

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

}  // namespace sluice
