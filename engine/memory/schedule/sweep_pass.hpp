// One sweep over the partitions that have work: which partition is brought into which slot, and which ones
// are worked on next. A sweep needs each partition once, so a cache that evicts the oldest would never hit.
// Instead as many partitions as fit keep their slots while they are needed; the others pass through the
// remaining slots, about half of which are filling at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/memory/schedule/scheduler.hpp"

namespace sluice {

class SweepPass {
 public:
  /// Keeps a reference to the slots, for which no load may be under way. `waiting` counts work by partition.
  SweepPass(Scheduler& slots, std::span<const std::uint64_t> waiting);

  /// Assigns the next partitions to free slots, the busiest first.
  PartitionMoves fill();
  /// Marks these partitions as arrived.
  void arrive(std::span<const std::uint32_t> partitions);
  /// True if no partition is ready for work; true if none is on its way.
  bool none_resident() const { return to_work_on_.empty(); }
  bool none_loading() const { return loading_ == 0; }
  /// The partitions to work on now. Work on them must end before fill(), which may reuse their slots.
  std::vector<std::uint32_t> next();

  /// The number of slots that partitions pass through.
  unsigned streaming_slots() const { return slots_.slots() - pinned_; }

 private:
  Scheduler& slots_;
  std::vector<std::uint32_t> to_load_;  ///< partitions to bring
  std::vector<unsigned> to_fill_;       ///< slots to fill
  std::vector<unsigned> to_work_on_;    ///< slots to work on
  std::size_t loads_begun_ = 0;         ///< loads begun, of away_
  std::size_t filled_ = 0;           ///< slots filled, of free_
  unsigned pinned_ = 0;              ///< the first slots, which keep partitions that are needed
  unsigned loading_ = 0;
};

}  // namespace sluice
