// Vertices shared out over ranks or threads.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice {

/// A vertex costs about as much as so many edges: its state is 40 bytes, read and written.
inline constexpr std::uint64_t kEdgesPerVertex = 4;

/// Boundaries of `parts` ranges of vertices of about equal cost: in-edges, and what vertices cost beside
/// them. Without vertices all ranges are empty.
std::vector<std::uint64_t> balanced_ranges(const EdgeIndex* offsets, std::uint64_t vertices,
                                           std::uint64_t parts);

}  // namespace sluice
