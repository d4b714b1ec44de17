// How much of a column is read at a time when memory may be short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/memory_budget.hpp"

namespace sluice {

/// How many entries of `bytes` bytes each to read at a time, at most `most`: they fill a 16th of the
/// available host memory, or `least` bytes if that is more. A plan counts `least`.
inline std::uint64_t entries_of_piece(std::uint64_t bytes, std::uint64_t least, std::uint64_t most) {
  return std::min(std::max(host_budget().available() / 16, least) / bytes, most);
}

}  // namespace sluice
