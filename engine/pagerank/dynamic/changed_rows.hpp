// How changed rows travel between GPUs: a rank sends all rows that it has, or the changed ones, entry by
// entry, whichever takes fewer bytes (Router::sends_all). Ranks say first what each of them sends; then all
// know what lies where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/exchange/router.hpp"
#include "engine/pagerank/fixed_rank.hpp"

namespace sluice::pagerank {

/// Entries of a parcel: a copy of one is long enough to be fast, and two take 6 MiB.
inline constexpr std::uint64_t kParcelEntries = std::uint64_t{1} << 18;

/// A rank that sends all its rows says so instead of how many changed.
inline constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

/// How many entries a rank sends at a time, at most, in a graph of so many vertices. Even, so that the next
/// rank's are aligned to 8 bytes.
inline std::uint64_t entries_at_once(std::uint64_t vertices) {
  return (std::clamp<std::uint64_t>(vertices, 1, kParcelEntries) + 1) / 2 * 2;
}

/// Bytes that travel at once where they pass through the hosts: entries of all ranks, if they are not too
/// many.
inline std::uint64_t exchanged_at_once(std::uint64_t vertices, std::uint64_t ranks) {
  constexpr std::uint64_t kLeast = 1u << 16;  // a graph may grow
  return std::clamp(ranks * entries_at_once(vertices) * Router::kEntryBytes<FixedRank>, kLeast,
                    Router::kPieceBytes);
}

/// [ranks] The rows of those that send them all; `sent`: what ranks said.
inline std::vector<ElementRange> rows_as_a_whole(const Ownership& owners,
                                                 std::span<const std::uint64_t> sent) {
  std::vector<ElementRange> rows(sent.size());
  for (std::size_t rank = 0; rank < sent.size(); ++rank)
    if (sent[rank] == kAllRows) rows[rank] = {owners.begin(rank), owners.end(rank)};
  return rows;
}

/// [ranks] Where the entries from `done` on lie, of the others: each rank has `capacity` places.
inline std::vector<ElementRange> places_of_entries(std::span<const std::uint64_t> sent, std::uint64_t done,
                                                   std::uint64_t capacity) {
  std::vector<ElementRange> places(sent.size());
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    const std::uint64_t left = sent[rank] == kAllRows ? 0 : sent[rank] - std::min(sent[rank], done);
    places[rank].begin = rank * capacity;
    places[rank].end = places[rank].begin + std::min(left, capacity);
  }
  return places;
}

inline bool all_empty(std::span<const ElementRange> ranges) {
  return std::ranges::all_of(ranges, [](const ElementRange& range) { return range.begin == range.end; });
}

}  // namespace sluice::pagerank
