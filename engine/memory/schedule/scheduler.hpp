// Chooses which partitions are brought to the device, and which leave it, by the work that waits for each.
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

/// A change of slots.
struct PartitionMoves {
  std::vector<std::uint32_t> evicted;  ///< partitions that leave their slots
  std::vector<PartitionLoad> loads;  ///< partitions that are brought
};

/// Partitions that fit some slots only.
struct LargePartitions {
  std::vector<bool> is_large;  ///< [partitions]; empty: all fit all slots
  unsigned slots = 0;    ///< the first slots, which hold them
};

/// Keeps the state of the slots. A round calls choose (which starts loads), works on resident partitions, and
/// calls arrive and retire. Loads may take several rounds.
class Scheduler {
 public:
  static constexpr std::uint32_t kEmpty = ~0u;

  Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy, LargePartitions large = {});

  /// The absent partitions that have work, sorted by most work (workload) or oldest work (fifo), ties by
  /// smaller id. `waiting` counts work by partition.
  std::vector<std::uint32_t> wanted(std::span<const std::uint64_t> waiting) const;
  /// Loads of wanted partitions into empty slots.
  std::vector<PartitionLoad> choose(std::span<const std::uint64_t> waiting);
  /// Assigns a slot to an absent partition. The slot's partition leaves, even if it has work; returns that
  /// partition, or kEmpty.
  std::uint32_t replace(const PartitionLoad& load);
  /// Marks these partitions as arrived.
  void arrive(std::span<const std::uint32_t> partitions);
  /// Empties slots of partitions without work, those that arrived first before others, until `empty` slots
  /// are empty; and one more if a large partition waits for it. Returns the partitions that left.
  std::vector<std::uint32_t> retire(std::span<const std::uint64_t> waiting, unsigned empty);
  /// Empties all slots, even of partitions with work; returns the partitions that left.
  std::vector<std::uint32_t> clear();

  bool resident(std::uint32_t partition) const { return state_[partition] == State::resident; }
  bool absent(std::uint32_t partition) const { return state_[partition] == State::absent; }
  unsigned slots() const { return static_cast<unsigned>(slot_partition_.size()); }
  /// The partition that is in a slot or on its way to it; kEmpty if there is none.
  std::uint32_t partition_in(unsigned slot) const { return slot_partition_[slot]; }
  /// The slot of a partition that is resident or on its way.
  unsigned slot_of(std::uint32_t partition) const;
  /// The number of loads that have not arrived.
  unsigned loading() const;
  /// The number of slots that no partition is in, or on its way to.
  unsigned empty() const { return static_cast<unsigned>(std::ranges::count(slot_partition_, kEmpty)); }
  /// Partitions that may be worked on, in order of slots.
  std::vector<std::uint32_t> residents() const;

 private:
  enum class State : std::uint8_t { absent, loading, resident };

  bool large(std::uint32_t partition) const { return !large_.is_large.empty() && large_.is_large[partition]; }
  /// The smallest empty slot that fits the partition; slots() if there is none.
  unsigned empty_slot_for(std::uint32_t partition) const;
  bool lacks_large_slot(std::span<const std::uint64_t> waiting) const;
  void evict(std::uint32_t partition);

  SchedulePolicy policy_;
  LargePartitions large_;
  std::vector<State> state_;            ///< [partitions]
  std::vector<std::uint64_t>
      waiting_since_;  ///< [partitions] round in which work first waited; 0: none waits
  std::vector<std::uint32_t> slot_partition_;  ///< [slots] the partition in it, or on its way
  std::vector<std::uint64_t> arrival_round_;   ///< [slots] round of arrival
  std::uint64_t round_ = 0;
};

}  // namespace sluice
