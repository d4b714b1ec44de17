// Which edges a conversion keeps and what they weigh.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "engine/core/types.hpp"
#include "engine/random/streams.hpp"
#include "partition/edge_record.hpp"

namespace sluice::io {

/// The uniform random weight of an edge, in (0, 1], a multiple of 2^-24: a function of the seed and of the
/// smaller and the larger id in the finished graph (after compaction).
inline float uniform_weight(std::uint64_t seed, Vertex u, Vertex v) {
  const PhiloxBlock block = philox({draw_word(Stream::weight, 0), std::min(u, v), std::max(u, v), 0}, seed);
  return static_cast<float>((block.x >> 8) + 1) * 0x1p-24f;
}

/// Result of dropping duplicates.
struct Dropped {
  std::uint64_t kept = 0;     ///< records
  std::uint64_t dropped = 0;  ///< edges: a mirrored pair counts once
};

/// Keeps the first of each run of records with equal ends and moves it to the front. `before` is the key of
/// the record before the first, or a key that no record has.
template <class Record>
Dropped drop_duplicates(std::span<Record> records, std::uint64_t before, bool undirected) {
  Dropped result;
  for (const Record record : records) {
    if (record.key() != before) {
      before = record.key();
      records[result.kept++] = record;
    } else if (!undirected || record.source() <= record.target()) {
      ++result.dropped;
    }
  }
  return result;
}

/// No pair of ids has this key, since kNoVertex is not an id.
inline constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

}  // namespace sluice::io
