// The biases of a pool's entries under their sums: by kFan entries, by kFan of these sums, and so on up to a
// level of at most kFan. An entry is found, and a bias changed, in one look at each level. Sums are integers,
// so that the entry is the one that a scan of all biases finds.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"

namespace sluice::samples {

struct BiasTree {
  static constexpr std::uint64_t kFan = 32;  ///< a warp looks at so many at once

  std::uint64_t* biases;   ///< [size(capacity)] level by level, the entries' first
  std::uint64_t capacity;  ///< entries, at most

  SLUICE_HD static constexpr std::uint64_t size(std::uint64_t capacity) {
    std::uint64_t all = capacity;
    while (capacity > kFan) all += capacity = above(capacity);
    return all;
  }

  /// Sums up the biases of all entries; every lane calls it, and may find entries then.
  template <class Group>
  SLUICE_HD void build(const Group& group) const {
    std::uint64_t* level = biases;
    for (std::uint64_t count = capacity; count > kFan; level += count, count = above(count)) {
      group.sync();
      for (std::uint64_t i = group.rank(); i < above(count); i += Group::kSize) {
        std::uint64_t sum = 0;
        for (std::uint64_t j = i * kFan; j < lesser((i + 1) * kFan, count); ++j) sum += level[j];
        level[count + i] = sum;
      }
    }
    group.sync();
  }

  /// One lane calls it, and the others wait for it.
  SLUICE_HD void set(std::uint64_t entry, std::uint64_t bias) const {
    const std::uint64_t change = bias - biases[entry];  // may wrap around, as sums then do
    std::uint64_t* level = biases;
    for (std::uint64_t count = capacity;; level += count, count = above(count), entry /= kFan) {
      level[entry] += change;
      if (count <= kFan) return;
    }
  }

  /// The entry whose region of the biases' sums holds x, which is below the sum of all.
  template <class Group>
  SLUICE_HD std::uint32_t find(const Group& group, std::uint64_t x) const {
    unsigned level = 0;
    for (std::uint64_t count = capacity; count > kFan; count = above(count)) ++level;
    for (std::uint64_t begin = 0;; begin *= kFan, --level) {
      const std::uint64_t* values = biases;
      std::uint64_t count = capacity;
      for (unsigned below = 0; below < level; ++below) values += count, count = above(count);
      const auto value = [&](std::uint64_t i) { return values[begin + i]; };
      const auto found = first_sum_above(group, lesser(kFan, count - begin), x, value);
      x -= group.broadcast(found.sum - found.value, found.lane);  // what lies in the value's region
      begin += found.index();
      if (level == 0) return static_cast<std::uint32_t>(begin);
    }
  }

 private:
  SLUICE_HD static constexpr std::uint64_t above(std::uint64_t count) { return (count + kFan - 1) / kFan; }
  SLUICE_HD static std::uint64_t lesser(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

}  // namespace sluice::samples
