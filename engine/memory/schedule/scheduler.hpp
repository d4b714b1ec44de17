// Which partitions are brought to the device, and which leave it: decided from the work that waits in each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/memory/paging.hpp"

namespace sluice {

/// A partition that is to be brought into a slot.
struct PartitionLoad {
  unsigned slot;
  std::uint32_t partition;
  bool operator==(const PartitionLoad&) const = default;
};

/// What changes in slots at once.
struct PartitionMoves {
  std::vector<std::uint32_t> left;   ///< partitions that are not here any more
  std::vector<PartitionLoad> loads;  ///< and those that come
};

/// Partitions that fit only some slots.
struct LargePartitions {
  std::vector<bool> of;  ///< [partitions], empty: all fit everywhere
  unsigned slots = 0;    ///< the first so many hold them
};

/// Keeps track of slots. A round is: choose (starts loads), work on what is resident, arrive, retire. Loads
/// may take several rounds.
class Scheduler {
 public:
  static constexpr std::uint32_t kEmpty = ~0u;

  Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy, LargePartitions large = {});

  /// The partitions that are not here and have work, those first with most of it (workload) or with the
  /// oldest (fifo), ties by smaller id. `waiting` counts work by partition.
  std::vector<std::uint32_t> wanted(std::span<const std::uint64_t> waiting) const;
  /// Loads for the empty slots, of wanted partitions.
  std::vector<PartitionLoad> choose(std::span<const std::uint64_t> waiting);
  /// A partition that is not here comes into a slot, whose partition leaves, whatever waits there: that
  /// partition, or kEmpty.
  std::uint32_t replace(const PartitionLoad& load);
  /// These have come.
  void arrive(std::span<const std::uint32_t> partitions);
  /// Empties slots, of those that have no work the longest here first, until `empty` of them are empty, and
  /// one for a large partition that waits; returns the partitions that left.
  std::vector<std::uint32_t> retire(std::span<const std::uint64_t> waiting, unsigned empty);
  /// Empties all slots, whatever waits there; returns the partitions that left.
  std::vector<std::uint32_t> clear();

  bool resident(std::uint32_t partition) const { return state_[partition] == State::resident; }
  bool away(std::uint32_t partition) const { return state_[partition] == State::away; }
  unsigned slots() const { return static_cast<unsigned>(held_.size()); }
  /// The partition that is in a slot, or comes into it; kEmpty: none.
  std::uint32_t held(unsigned slot) const { return held_[slot]; }
  /// The slot of a partition that is here or comes.
  unsigned slot_of(std::uint32_t partition) const;
  /// How many loads have not come yet.
  unsigned coming() const;
  /// How many slots no partition is in, or comes into.
  unsigned empty() const { return static_cast<unsigned>(std::ranges::count(held_, kEmpty)); }
  /// Partitions that may be worked on, in order of slots.
  std::vector<std::uint32_t> residents() const;

 private:
  enum class State : std::uint8_t { away, coming, resident };

  bool large(std::uint32_t partition) const { return !large_.of.empty() && large_.of[partition]; }
  /// An empty slot for the partition, of those that are no larger than need be; none: slots.
  unsigned place_for(std::uint32_t partition) const;
  bool lacks_large_slot(std::span<const std::uint64_t> waiting) const;
  void evict(std::uint32_t partition);

  SchedulePolicy policy_;
  LargePartitions large_;
  std::vector<State> state_;            ///< [partitions]
  std::vector<std::uint64_t> since_;    ///< [partitions] round in which work came, 0: none waits
  std::vector<std::uint32_t> held_;     ///< [slots] the partition in it
  std::vector<std::uint64_t> arrived_;  ///< [slots] when it came
  std::uint64_t round_ = 0;
};

}  // namespace sluice
