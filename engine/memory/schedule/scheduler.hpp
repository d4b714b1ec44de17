// Which partitions are brought to the device, and which leave it: decided from the work that waits in each.
#pragma once

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

/// Partitions that fit only some slots.
struct LargePartitions {
  std::vector<bool> of;  ///< [partitions], empty: all fit everywhere
  unsigned slots = 0;    ///< the first so many have room for them
};

/// Keeps track of slots. A round is: choose (starts loads), work on what is resident, arrive, retire. Loads
/// may take several rounds.
class Scheduler {
 public:
  Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy, LargePartitions large = {});

  /// Loads for the empty slots: of the partitions that are not here and have work, those with most of it
  /// (workload) or with the oldest (fifo), ties by smaller id. `waiting` counts work by partition.
  std::vector<PartitionLoad> choose(std::span<const std::uint64_t> waiting);
  /// These have come.
  void arrive(std::span<const std::uint32_t> partitions);
  /// Empties slots, of those that have no work the longest here first, until `empty` of them are empty, and
  /// one for a large partition that waits; returns the partitions that left.
  std::vector<std::uint32_t> retire(std::span<const std::uint64_t> waiting, unsigned empty);
  /// Empties all slots, whatever waits there; returns the partitions that left.
  std::vector<std::uint32_t> clear();

  bool resident(std::uint32_t partition) const { return state_[partition] == State::resident; }
  bool away(std::uint32_t partition) const { return state_[partition] == State::away; }
  /// How many loads have not come yet.
  unsigned coming() const;
  /// Partitions that may be worked on, in order of slots.
  std::vector<std::uint32_t> residents() const;

 private:
  enum class State : std::uint8_t { away, coming, resident };
  static constexpr std::uint32_t kEmpty = ~0u;

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
