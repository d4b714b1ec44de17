// Classes of rows by length on a GPU, so that no lane waits for a hub.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// Largest degrees of the classes: a thread takes a few edges one by one; 8 lanes read one sector of 32 bytes
/// at once; a warp one line; what is longer is a block's, or cut among blocks.
inline constexpr std::uint64_t kThreadEdges = 4;
inline constexpr std::uint64_t kTileEdges = 64;
inline constexpr std::uint64_t kWarpEdges = 2048;
inline constexpr unsigned kListClasses = 4;

SLUICE_HD unsigned list_class(std::uint64_t degree) {
  return degree <= kThreadEdges ? 0 : degree <= kTileEdges ? 1 : degree <= kWarpEdges ? 2 : 3;
}

}  // namespace sluice
