// The group: who works together on one selection. One lane on the host, a tile of lanes of a warp on the GPU
// (group.cuh), or a block (block_group.cuh). Selection code is written once over this interface; results
// never depend on a group's size.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// A group of one.
struct SingleLane {
  static constexpr unsigned kSize = 1;

  SLUICE_HD unsigned rank() const { return 0; }
  SLUICE_HD void sync() const {}
  /// 0 where no lane's predicate holds; else what first() takes.
  SLUICE_HD std::uint32_t ballot(bool predicate) const { return predicate; }
  template <class T>
  SLUICE_HD T broadcast(T value, unsigned) const {
    return value;
  }
  template <class T>
  SLUICE_HD T sum(T value) const {
    return value;
  }
  template <class T>
  SLUICE_HD T maximum(T value) const {
    return value;
  }
  template <class T>
  SLUICE_HD T inclusive_scan(T value) const {
    return value;
  }
  /// Does a lane of lower rank hold the same value?
  template <class T>
  SLUICE_HD bool equals_lower(T) const {
    return false;
  }
  /// Rank of the lowest lane in a ballot that is not empty.
  SLUICE_HD unsigned first(std::uint32_t) const { return 0; }
};

/// Calls put(k, i) for the k-th of those i below `count` for which keep(i) holds; returns how many there are.
/// A lane has keep() and put() called for the same i, one after the other.
template <class Group, class Keep, class Put>
SLUICE_HD std::uint32_t keep_in_order(const Group& group, std::uint32_t count, const Keep& keep,
                                      const Put& put) {
  std::uint32_t kept = 0;
  for (std::uint32_t base = 0; base < count; base += Group::kSize) {
    const std::uint32_t i = base + group.rank();
    const bool kept_here = i < count && keep(i);
    const std::uint32_t rank = group.inclusive_scan(kept_here ? 1u : 0u);
    if (kept_here) put(kept + rank - 1, i);
    kept += group.broadcast(rank, Group::kSize - 1);
  }
  return kept;
}

/// Where a running sum passes a limit: at the value of `lane`, index() of all. Each lane has its own value
/// and the sum up to it.
template <class Index, class Sum>
struct PassedLimit {
  Index base;
  unsigned lane;
  Sum value, sum;

  SLUICE_HD Index index() const { return base + lane; }
};

/// The first of `count` values with which their running sum is above `limit`; the sum of all is.
template <class Group, class Index, class Sum, class ValueAt>
SLUICE_HD PassedLimit<Index, Sum> first_sum_above(const Group& group, Index count, Sum limit,
                                                  const ValueAt& value_at) {
  Sum below = 0;
  for (Index base = 0;; base += Group::kSize) {
    const Index i = base + group.rank();
    const Sum value = i < count ? value_at(i) : Sum{0}, sum = below + group.inclusive_scan(value);
    const std::uint32_t passed = group.ballot(sum > limit);
    if (passed != 0) return {base, group.first(passed), value, sum};
    below = group.broadcast(sum, Group::kSize - 1);
  }
}

}  // namespace sluice
