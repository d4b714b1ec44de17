// How a partition's edges are reached in a round: copied into a slot, or read in place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/exec/link.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Weighs, for each partition that is not on the device, the time of a copy against that of the reads that
/// are wanted there (DESIGN section 2, idea 5).
class TransportChoice {
 public:
  /// `reads` is what one visit of a list reads of it.
  TransportChoice(const PartitionPlan& plan, const LinkRates& rates, double reads);

  /// Partitions to read in place now. `waiting` counts the work at each; `active` is the work that is about
  /// to go on elsewhere and may come by.
  std::vector<std::uint32_t> mapped(std::span<const std::uint64_t> waiting, std::uint64_t active) const;

 private:
  const PartitionPlan& plan_;
  LinkRates rates_;
  double reads_;
  double all_bytes_ = 0;
};

}  // namespace sluice
