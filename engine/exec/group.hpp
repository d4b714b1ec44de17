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

}  // namespace sluice
