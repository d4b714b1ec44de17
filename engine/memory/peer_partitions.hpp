// Partitions of other ranks, read where they are: in the memory of their GPUs, over NVLink. Each rank brings
// its own part once, and then works on its own instances as if it were alone, so that no work travels.
//
// For samples, which draw several edges of a list: of 2^20 seeds, 15 and 10 neighbours, two H100s with a half
// of Kronecker 24 each take 14 ms so, and 45 ms where entries travel to the owners of their lists. It takes
// entries in order of where their lists lie (samples/partitioned/level_selector.hpp), 35 ms in any order: a
// GPU keeps few translations of addresses in another's memory. Walks, which read one edge here and one there
// in no order, make 0.37 G steps a second, and 11.4 where walks travel.
#pragma once

#include <memory>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/slots.hpp"

namespace sluice {

class PeerPartitions {
 public:
  /// Brings this rank's part to its GPU. Null, on all ranks, where they have no part each, or not each a GPU
  /// that reaches the others' memory and holds its part in half of what is free; where the run asks for
  /// another way to work on partitions, or is only planned. All ranks that share out the graph call it.
  static std::unique_ptr<PeerPartitions> open(ResidentGraph::Impl& graph, const PageRequest& pages);

  /// Calls `body`, for which the graph is not shared out: every partition is here. Returns when all
  /// ranks have done so. All of them call it; where one lacks memory, all throw BudgetError.
  void run(FunctionRef<void()> body);

  /// The columns of each rank's part.
  std::span<const PageView> views() const { return views_; }
  /// A part a rank; what is left of the device's memory is for instances. Throws BudgetError.
  PagedPlan plan(std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps) const;
  /// Adds what this rank has brought.
  void count(RunStats& stats) const;

 private:
  class Alone;

  PeerPartitions(ResidentGraph::Impl& graph, const PageRequest& pages, PartitionPlan parts);
  bool connect(const PageColumns& columns);
  void close();

  ResidentGraph::Impl& graph_;
  Communicator& ranks_;
  PartitionPlan parts_;
  Slots own_;
  std::vector<std::unique_ptr<PeerMemory>> peers_;  ///< of each column
  std::vector<PageView> views_;                     ///< [ranks]
};

/// May a run over ranks read lists where other ranks' GPUs have them? Not where it asks for another way to
/// bring them, or is only planned.
bool may_read_peers(const Device& device, const PagingOptions& paging);

/// Calls `body` with other ranks' partitions in reach, where that is possible; else as it is.
void with_peer_partitions(ResidentGraph::Impl& graph, const PageRequest& pages, RunStats& stats,
                          FunctionRef<void()> body);

}  // namespace sluice
