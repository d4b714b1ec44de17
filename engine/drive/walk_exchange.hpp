// How walks in partitions change hands: those that wait for other ranks' partitions, a piece at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/drive/column_exchange.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/walk_queues.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/sampling/run.hpp"

namespace sluice {

class WalkExchange {
 public:
  /// All ranks make one, of the same number of partitions. Throws BudgetError.
  WalkExchange(Communicator& ranks, const Device& device, WalkQueues& queues, std::uint32_t partitions);

  /// Hands walks that wait for other ranks' partitions to them; false when nobody has any. All ranks call it.
  bool hand_over(RunStats& stats);
  std::uint64_t bytes_between_gpus() const { return link_ ? link_->bytes_sent() : 0; }

 private:
  /// Walks in a piece, to all ranks together.
  static constexpr std::uint64_t kPiece = kTravellingBytes / 2 / sizeof(TravellingWalk);

  Communicator& ranks_;
  WalkQueues& queues_;
  std::vector<OwnedPartitions> ranges_;  ///< by rank; none for this one
  std::unique_ptr<DeviceRanks> link_;
  ColumnExchange columns_;
  Buffer<TravellingWalk> leaving_, arriving_;
};

}  // namespace sluice
