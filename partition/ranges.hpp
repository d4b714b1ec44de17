// Distribution of vertices over ranks or threads.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// The cost of a vertex in edges: its state of 40 bytes is read and written.
inline constexpr std::uint64_t kEdgesPerVertex = 4;

/// Cuts the vertices into `parts` ranges of about equal cost: their edges, and kEdgesPerVertex for each
/// vertex. `offsets` [vertices + 1] may be empty; without vertices all ranges are empty.
Ownership balanced_ranges(std::span<const EdgeIndex> offsets, std::uint64_t parts);

}  // namespace sluice
