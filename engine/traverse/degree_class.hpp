// Classes of lists by degree: the thresholds from which more lanes process a list together, so that no lane
// waits for a hub. All loops over edges take their thresholds from here; each uses those that pay for its
// work per edge.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice {

/// From here on a tile: 8 lanes read one sector of 32 bytes at once. A thread reads fewer edges one by one.
inline constexpr std::uint64_t kTileDegree = 5;
/// From here on a warp, and a block, if states change by atomics (SIMD-X's small, medium and large worklists;
/// its 32 and 128 were up to a tenth slower: sssp 15.8 instead of 14.4 ms, Kronecker scale 22, H200).
inline constexpr std::uint64_t kWarpDegree = 16;
inline constexpr std::uint64_t kBlockDegree = 512;
/// From here on a warp, in loops that also have tiles: it reads one line at once.
inline constexpr std::uint64_t kLineDegree = 64;
/// From here on a block, if otherwise all would wait for a single warp.
inline constexpr std::uint64_t kLongDegree = 2048;
/// From here on the whole grid, whose blocks divide the list.
inline constexpr std::uint64_t kGridDegree = GraphView::kHubDegree;

/// The number of worklists, and of classes of rows that are reduced: for a lane, a warp and a block.
inline constexpr unsigned kDegreeLists = 3;
SLUICE_HD unsigned list_of_degree(std::uint64_t degree) {
  return degree < kWarpDegree ? 0 : degree < kBlockDegree ? 1 : 2;
}

/// The number of classes of rows whose lanes only read: for a thread, a tile, a warp, and one or more blocks.
inline constexpr unsigned kListClasses = 4;
SLUICE_HD unsigned list_class(std::uint64_t degree) {
  return degree < kTileDegree ? 0 : degree < kLineDegree ? 1 : degree < kLongDegree ? 2 : 3;
}

}  // namespace sluice
