// The weights of edges whose input gives none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/random/streams.hpp"

namespace sluice::io {

/// The uniform random weight of an edge, in (0, 1], a multiple of 2^-24: a function of the seed and of the
/// smaller and the larger id in the finished graph (after compaction).
inline float uniform_weight(std::uint64_t seed, Vertex u, Vertex v) {
  const PhiloxBlock block = philox({draw_word(Stream::weight, 0), std::min(u, v), std::max(u, v), 0}, seed);
  return static_cast<float>((block.x >> 8) + 1) * 0x1p-24f;
}

}  // namespace sluice::io
