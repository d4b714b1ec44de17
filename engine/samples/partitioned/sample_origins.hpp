// Whose instances the entries of a level are, where ranks expand each other's: an entry numbers its instance
// from its own rank's batch on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"

namespace sluice::samples {

/// Entries [begin, end) of a level, of instances that are numbered from `first`.
struct LevelOrigin {
  Instance first = 0;
  std::uint64_t begin = 0, end = 0;
};

/// A rank's batch: instances [first, first + count).
struct OriginBatch {
  Instance first = 0;
  std::uint64_t count = 0;
};

/// Every rank's batch; all ranks call it.
std::vector<OriginBatch> gather_batches(Communicator& ranks, const OriginBatch& own);

/// How many edges the entries of each rank have, of which rank r has `counts[r]`, in order of rank: those of
/// entry i begin at begins[i], in the device's memory, and nothing writes there any more.
std::vector<std::uint64_t> sums_by_rank(const Device& device, const std::uint64_t* begins,
                                        std::span<const std::uint64_t> counts);

/// Origin ranks whose entries are worked on together.
struct JoinedOrigins {
  /// One behind the other; one of them, where 32 bits number all instances.
  std::vector<LevelOrigin> origins;
  std::vector<std::uint32_t> shifts;  ///< by rank: what its entries' instances grow by
};

/// Joins the origin ranks of a level in which rank r has `entries[r]` entries, in order of rank.
JoinedOrigins join_origins(std::span<const OriginBatch> batches, std::span<const std::uint64_t> entries);

}  // namespace sluice::samples
