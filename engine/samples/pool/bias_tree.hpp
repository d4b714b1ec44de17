// The biases of a pool's entries as the leaves of a tree of sums: each sum covers kFan values of the level
// below; the top level has at most kFan. A search or an update visits each level once. Sums are integers, so
// a search finds the entry that a scan of all biases finds.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"

namespace sluice::samples {

struct BiasTree {
  static constexpr std::uint64_t kFan = 32;  ///< a warp reads this many values at once

  std::uint64_t* biases;   ///< [size(capacity)] level by level, from the entries up
  std::uint64_t capacity;  ///< the most entries

  SLUICE_HD static constexpr std::uint64_t size(std::uint64_t capacity) {
    std::uint64_t total = capacity;
    while (capacity > kFan) total += capacity = parent_count(capacity);
    return total;
  }

  /// Computes all sums. Every lane calls it, and may then find entries.
  template <class Group>
  SLUICE_HD void build(const Group& group) const {
    std::uint64_t* level = biases;
    for (std::uint64_t count = capacity; count > kFan; level += count, count = parent_count(count)) {
      group.sync();
      for (std::uint64_t i = group.rank(); i < parent_count(count); i += Group::kSize) {
        std::uint64_t sum = 0;
        for (std::uint64_t j = i * kFan; j < minimum((i + 1) * kFan, count); ++j) sum += level[j];
        level[count + i] = sum;
      }
    }
    group.sync();
  }

  /// Sets an entry's bias and its sums. One lane calls it; the group must synchronize afterwards.
  SLUICE_HD void set(std::uint64_t entry, std::uint64_t bias) const {
    const std::uint64_t change = bias - biases[entry];  // may wrap around; the sums wrap back
    std::uint64_t* level = biases;
    for (std::uint64_t count = capacity;; level += count, count = parent_count(count), entry /= kFan) {
      level[entry] += change;
      if (count <= kFan) return;
    }
  }

  /// The entry in whose interval of the biases' prefix sums x lies; x must be below the sum of all biases.
  template <class Group>
  SLUICE_HD std::uint32_t find(const Group& group, std::uint64_t x) const {
    unsigned level = 0;
    for (std::uint64_t count = capacity; count > kFan; count = parent_count(count)) ++level;
    for (std::uint64_t begin = 0;; begin *= kFan, --level) {
      const std::uint64_t* values = biases;
      std::uint64_t count = capacity;
      for (unsigned below = 0; below < level; ++below) values += count, count = parent_count(count);
      const auto value = [&](std::uint64_t i) { return values[begin + i]; };
      const auto found = first_sum_above(group, minimum(kFan, count - begin), x, value);
      x -= group.broadcast(found.sum - found.value, found.lane);  // position within the value's interval
      begin += found.index();
      if (level == 0) return static_cast<std::uint32_t>(begin);
    }
  }

 private:
  SLUICE_HD static constexpr std::uint64_t parent_count(std::uint64_t count) {
    return (count + kFan - 1) / kFan;
  }
  SLUICE_HD static std::uint64_t minimum(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

}  // namespace sluice::samples
