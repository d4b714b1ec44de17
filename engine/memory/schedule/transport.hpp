// How a partition's edges are reached in a round: copied into a slot, or read in place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/exec/memory/link.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Weighs, for each partition that is not on the device, the time of a copy against that of the reads that
/// are wanted there (DESIGN section 2, idea 5).
class TransportChoice {
 public:
  /// `reads` is what one visit of a list reads of it; the device has `slot_bytes` for partitions.
  TransportChoice(const PartitionPlan& plan, const LinkRates& rates, double reads, std::uint64_t slot_bytes);

  /// Partitions to read in place now. `waiting` counts the work at each, and each item goes on through up to
  /// `steps` further lists, anywhere.
  std::vector<std::uint32_t> mapped(std::span<const std::uint64_t> waiting, std::uint64_t steps = 0) const;

 private:
  const PartitionPlan& plan_;
  LinkRates rates_;
  double reads_, all_bytes_ = 0, away_bytes_ = 1;
};

}  // namespace sluice
