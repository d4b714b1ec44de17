// What PartitionedWalks asks of a batch, whatever the sampler and the backend: its code is
// compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exchange/nccl.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/walks/partitioned/walk.hpp"

namespace sluice {

/// A batch of walks, in queues by what they wait for (keys of ActiveWalks).
class WalkQueues {
 public:
  virtual ~WalkQueues() = default;

  virtual ActiveWalks& batch() = 0;
  /// Makes the partitions that are here visible to the next round.
  virtual void publish(PartitionCache& cache) = 0;
  virtual void begin(std::uint64_t count) = 0;
  /// The walks that came to the end of the last leg go on with the next, ActiveWalks::from.
  virtual void begin_leg() = 0;
  /// Walks that wait, by key.
  virtual std::span<const std::uint64_t> waiting() const = 0;
  /// Works on all that waits under these keys, until every walk has ended or waits for what is not here.
  virtual void advance(std::span<const std::uint32_t> keys) = 0;
  /// Where the first walk that needs two partitions at once is, and whom it asks.
  virtual std::pair<Vertex, Vertex> first_pair() = 0;
  /// What its GPU and those of other ranks hand each other walks by (make_device_ranks); null on the host.
  virtual std::unique_ptr<DeviceRanks> connect(Communicator& ranks) = 0;
  /// The stream that its kernels run on; null on the host.
  virtual void* stream() = 0;
  /// Walks that wait for a partition of these ranges leave: they have ended here. Returns how many by range.
  virtual std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges) = 0;
  /// Packs `count` of the walks that leave by a range, behind `from` others, into device memory.
  virtual void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) = 0;
  /// Takes over walks that another rank packed, from device memory.
  virtual void settle(const TravellingWalk* walks, std::uint64_t count) = 0;
  virtual Vertex* paths() = 0;  ///< [walks][steps of a leg + 1]
  virtual std::uint64_t steps() = 0;
  virtual std::uint64_t rounds() = 0;
  virtual std::uint64_t read() = 0;  ///< bytes in place
  virtual const KernelTimes& times() = 0;
};

}  // namespace sluice
