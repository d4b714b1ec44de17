// How much of a column is read at a time when memory may be short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/memory_budget.hpp"

namespace sluice {

/// How many entries of `bytes` bytes each to read at a time, at most `most`: they fill a 16th of the
/// available host memory, or `least` bytes if that is more. A plan counts `least`.
inline std::uint64_t entries_per_piece(std::uint64_t entry_bytes, std::uint64_t min_bytes,
                                       std::uint64_t max_entries) {
  return std::min(std::max(host_budget().available() / 16, min_bytes) / entry_bytes, max_entries);
}

}  // namespace sluice
