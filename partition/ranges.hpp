// Vertices shared out over ranks or threads.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// A vertex costs about as much as so many edges: its state is 40 bytes, read and written.
inline constexpr std::uint64_t kEdgesPerVertex = 4;

/// Ranges of vertices of about equal cost, one for each of `parts`: edges in `offsets` [vertices + 1], which
/// may be empty, and what vertices cost beside them. Without vertices all ranges are empty.
Ownership balanced_ranges(std::span<const EdgeIndex> offsets, std::uint64_t parts);

}  // namespace sluice
