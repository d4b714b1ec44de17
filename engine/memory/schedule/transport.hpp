// How a round reads a partition's edges: copied into a slot, or in place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/exec/memory/link.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Compares, for each absent partition, the time of a copy with the time of the reads that wait for it
/// (DESIGN section 2, idea 5).
class TransportChoice {
 public:
  /// `reads`: reads of one visit to a list; `slot_bytes`: device bytes for partitions.
  TransportChoice(const PartitionPlan& plan, const LinkRates& rates, double reads, std::uint64_t slot_bytes);

  /// The partitions to read in place now. `waiting` counts the work items of each; every item visits up to
  /// `steps` further lists, in any partition.
  std::vector<std::uint32_t> mapped(std::span<const std::uint64_t> waiting, std::uint64_t steps = 0) const;

 private:
  const PartitionPlan& plan_;
  LinkRates rates_;
  double reads_, all_bytes_ = 0, absent_bytes_ = 1;
};

}  // namespace sluice
