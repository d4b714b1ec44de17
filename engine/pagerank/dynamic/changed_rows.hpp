// The exchange of changed rows between GPUs. A rank sends all its rows, or the changed ones as entries,
// whichever takes fewer bytes (Router::sends_all). Ranks first exchange how much each of them sends, so that
// all know every place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/exchange/router.hpp"
#include "engine/pagerank/fixed_rank.hpp"

namespace sluice::pagerank {

/// Entries of a parcel: enough for a fast copy, and two parcels take 6 MiB.
inline constexpr std::uint64_t kParcelEntries = std::uint64_t{1} << 18;

/// The count that a rank sends if it sends all its rows, instead of how many changed.
inline constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

/// The most entries that a rank sends at a time, in a graph of so many vertices. Even, so that the next
/// rank's entries are aligned to 8 bytes.
inline std::uint64_t entries_per_exchange(std::uint64_t vertices) {
  return (std::clamp<std::uint64_t>(vertices, 1, kParcelEntries) + 1) / 2 * 2;
}

/// Bytes sent at once if they pass through the hosts: the entries of all ranks, if they are not too many.
inline std::uint64_t exchange_buffer_bytes(std::uint64_t vertices, std::uint64_t ranks) {
  constexpr std::uint64_t kMinBytes = 1u << 16;  // a graph may grow
  return std::clamp(ranks * entries_per_exchange(vertices) * Router::kEntryBytes<FixedRank>, kMinBytes,
                    Router::kPieceBytes);
}

/// [ranks] The rows of each rank that sends all its rows; `sent` are the counts of the ranks.
inline std::vector<ElementRange> whole_row_ranges(const Ownership& owners,
                                                  std::span<const std::uint64_t> sent) {
  std::vector<ElementRange> rows(sent.size());
  for (std::size_t rank = 0; rank < sent.size(); ++rank)
    if (sent[rank] == kAllRows) rows[rank] = {owners.begin(rank), owners.end(rank)};
  return rows;
}

/// [ranks] The places of entries from `done` on, for ranks that send entries; each rank has `capacity`
/// places.
inline std::vector<ElementRange> entry_ranges(std::span<const std::uint64_t> sent, std::uint64_t done,
                                              std::uint64_t capacity) {
  std::vector<ElementRange> ranges(sent.size());
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    const std::uint64_t remaining = sent[rank] == kAllRows ? 0 : sent[rank] - std::min(sent[rank], done);
    ranges[rank].begin = rank * capacity;
    ranges[rank].end = ranges[rank].begin + std::min(remaining, capacity);
  }
  return ranges;
}

inline bool all_empty(std::span<const ElementRange> ranges) {
  return std::ranges::all_of(ranges, [](const ElementRange& range) { return range.begin == range.end; });
}

}  // namespace sluice::pagerank
