// Origin ranks of a level's entries, if ranks expand entries of one another: an entry's instance number is
// relative to the batch of its origin rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"

namespace sluice::samples {

/// Entries [begin, end) of a level; their instance numbers are relative to `first`.
struct LevelOrigin {
  Instance first = 0;
  std::uint64_t begin = 0, end = 0;
};

/// A rank's batch: instances [first, first + count).
struct OriginBatch {
  Instance first = 0;
  std::uint64_t count = 0;
};

/// Returns the batch of every rank; all ranks call it.
std::vector<OriginBatch> gather_batches(Communicator& ranks, const OriginBatch& own);

/// The number of edges of each rank's entries. Entries are in order of rank, `counts[r]` of rank r, and edges
/// of entry i begin at begins[i]. `begins` is in device memory; no pending work may write it.
std::vector<std::uint64_t> sums_by_rank(const Device& device, const std::uint64_t* begins,
                                        std::span<const std::uint64_t> counts);

/// Origin ranks, grouped so that the entries of a group are worked on together.
struct JoinedOrigins {
  /// The groups, in order of entries; a single one if 32 bits can number all instances.
  std::vector<LevelOrigin> origins;
  std::vector<std::uint32_t> shifts;  ///< by rank: number to add to its entries' instances
};

/// Groups the origin ranks of a level whose entries are in order of rank, `entries[r]` of rank r.
JoinedOrigins join_origins(std::span<const OriginBatch> batches, std::span<const std::uint64_t> entries);

}  // namespace sluice::samples
