// Classes of lists by degree: from which degree on more lanes take a list together, so that no lane waits for
// a hub. Here are the thresholds of all loops over edges; each uses those that pay for what it does for an
// edge.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice {

/// 8 lanes read one sector of 32 bytes at once; a thread takes fewer edges one by one.
inline constexpr std::uint64_t kTileDegree = 5;
/// A warp, and a block, where lanes change states by atomics (SIMD-X's small, medium and large worklists; its
/// 32 and 128 were up to a tenth slower: sssp 15.8 instead of 14.4 ms, Kronecker scale 22, H200).
inline constexpr std::uint64_t kWarpDegree = 16;
inline constexpr std::uint64_t kBlockDegree = 512;
/// A warp, behind tiles: it reads one line at once.
inline constexpr std::uint64_t kLineDegree = 64;
/// A block, where a warp would be the last that all wait for.
inline constexpr std::uint64_t kLongDegree = 2048;
/// The whole grid, among whose blocks a list is cut.
inline constexpr std::uint64_t kGridDegree = GraphView::kHubDegree;

/// Worklists, and classes of rows that are reduced: a lane's, a warp's, a block's.
inline constexpr unsigned kDegreeLists = 3;
SLUICE_HD unsigned list_of_degree(std::uint64_t degree) {
  return degree < kWarpDegree ? 0 : degree < kBlockDegree ? 1 : 2;
}

/// Classes of rows whose lanes only read: a thread's, a tile's, a warp's, a block's or several blocks'.
inline constexpr unsigned kListClasses = 4;
SLUICE_HD unsigned list_class(std::uint64_t degree) {
  return degree < kTileDegree ? 0 : degree < kLineDegree ? 1 : degree < kLongDegree ? 2 : 3;
}

}  // namespace sluice
