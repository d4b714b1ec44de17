// How much of a column is read at a time, where memory may be short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/memory_budget.hpp"

namespace sluice {

/// Entries of `bytes` each: of a 16th of the host memory that is left, but at least of `least` bytes, which a
/// plan counts, and at most `most`.
inline std::uint64_t entries_of_piece(std::uint64_t bytes, std::uint64_t least, std::uint64_t most) {
  return std::min(std::max(host_budget().available() / 16, least) / bytes, most);
}

}  // namespace sluice
