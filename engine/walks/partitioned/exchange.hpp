// How walks in partitions change hands: those that wait for other ranks' partitions, a piece at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/partitioned/queues.hpp"

namespace sluice {

class WalkExchange {
 public:
  /// All ranks make one, of the same number of partitions. Throws BudgetError.
  WalkExchange(Communicator& ranks, const Device& device, WalkQueues& queues, std::uint32_t partitions);

  /// Hands walks that wait for other ranks' partitions to them; `waiting` others stay. False when no walk
  /// waits anywhere. All ranks call it.
  bool hand_over(std::uint64_t waiting, RunStats& stats);
  /// Whether GPUs put the ranks' parts of rows together themselves.
  bool between_gpus() const { return link_ != nullptr; }
  /// Of all ranks' parts of a batch's rows, `per_origin` values of each rank, this rank's own become whole;
  /// the others are lost. Between GPUs, where all ranks call it.
  void send_to_origins(Vertex* rows, std::uint64_t per_origin, RunStats& stats);
  std::uint64_t bytes_between_gpus() const { return link_ ? link_->bytes_sent() : 0; }

 private:
  Communicator& ranks_;
  std::uint64_t piece_;  ///< walks in a piece, to all ranks together
  WalkQueues& queues_;
  std::vector<OwnedPartitions> ranges_;  ///< by rank; none for this one
  std::unique_ptr<DeviceRanks> link_;
  Router router_;
  Buffer<TravellingWalk> leaving_, arriving_;
};

}  // namespace sluice
