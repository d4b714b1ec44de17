// A group: the lanes that work together on one selection. It is one lane on the host; on a GPU, a tile of
// lanes of a warp (group.cuh) or a block (block_group.cuh). Selection code is written once over this
// interface; results never depend on a group's size.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// A group of one.
struct SingleLane {
  static constexpr unsigned kSize = 1;

  SLUICE_HD unsigned rank() const { return 0; }
  SLUICE_HD void sync() const {}
  /// 0 if no lane's predicate holds, else an argument for first().
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
  /// Whether a lane of lower rank has the same value.
  template <class T>
  SLUICE_HD bool equals_lower(T) const {
    return false;
  }
  /// Rank of the lowest lane whose predicate held; the ballot must not be 0.
  SLUICE_HD unsigned first(std::uint32_t) const { return 0; }
};

/// Calls put(k, i) for the k-th i below `count` for which keep(i) holds, and returns their number. The same
/// lane calls keep() and put() for an i, one after the other.
template <class Group, class Keep, class Put>
SLUICE_HD std::uint32_t compact_in_order(const Group& group, std::uint32_t count, const Keep& keep,
                                         const Put& put) {
  std::uint32_t kept = 0;
  for (std::uint32_t base = 0; base < count; base += Group::kSize) {
    const std::uint32_t i = base + group.rank();
    const bool lane_keeps = i < count && keep(i);
    const std::uint32_t rank = group.inclusive_scan(lane_keeps ? 1u : 0u);
    if (lane_keeps) put(kept + rank - 1, i);
    kept += group.broadcast(rank, Group::kSize - 1);
  }
  return kept;
}

/// Where a running sum exceeds a limit: at the value of lane `lane`, which is number index() of all values.
/// `value` is each lane's own, and `sum` the sum up to it.
template <class Index, class Sum>
struct PassedLimit {
  Index base;
  unsigned lane;
  Sum value, sum;

  SLUICE_HD Index index() const { return base + lane; }
};

/// Finds the first of `count` values whose running sum exceeds `limit`; the sum of all must exceed it.
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
