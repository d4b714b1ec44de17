// One sweep over the partitions in which work waits: which come into which slots, and which are worked on
// next. A partition is wanted once a sweep, so a cache that forgets the oldest would never hit: as many
// partitions as fit stay for as long as they are wanted, and the others pass through the rest of the slots,
// about half of which are filling at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/memory/schedule/scheduler.hpp"

namespace sluice {

class SweepPass {
 public:
  /// Keeps a reference to the slots, into which no partition is on its way. `waiting` counts work by
  /// partition.
  SweepPass(Scheduler& slots, std::span<const std::uint64_t> waiting);

  /// The next partitions come into slots that are free, the busiest first.
  PartitionMoves fill();
  /// These have come.
  void arrive(std::span<const std::uint32_t> partitions);
  /// Is no partition ready for work? Is none on its way?
  bool none_resident() const { return resident_.empty(); }
  bool none_coming() const { return coming_ == 0; }
  /// Partitions to work on now. Their slots are free once they pass through; work on them ends before fill().
  std::vector<std::uint32_t> next();

  /// How many slots partitions pass through.
  unsigned passing() const { return slots_.slots() - pinned_; }

 private:
  Scheduler& slots_;
  std::vector<std::uint32_t> away_;  ///< partitions that are to come
  std::vector<unsigned> free_;       ///< slots to fill
  std::vector<unsigned> resident_;   ///< slots to work on
  std::size_t begun_ = 0;            ///< of away_
  std::size_t filled_ = 0;           ///< of free_
  unsigned pinned_ = 0;              ///< the first so many slots keep what is wanted
  unsigned coming_ = 0;
};

}  // namespace sluice
