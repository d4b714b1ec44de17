// Partitions of other ranks, read over NVLink in the memory of their GPUs. Each rank brings its own part
// once, then works on its own instances as if it were alone, so no work travels.
//
// For samples, which draw several edges of a list. With 2^20 seeds, 15 and 10 neighbours, two H100s that hold
// half of Kronecker 24 each take 14 ms; 45 ms if entries travel to the owners of their lists. Entries are
// processed in order of their lists' addresses (samples/partitioned/level_selector.hpp): in any order they
// take 35 ms, since a GPU caches few translations of another GPU's addresses. Walks read single edges at
// random: they make 0.37 G steps/s this way, and 11.4 if walks travel.
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
  /// Brings this rank's part to its GPU. Null, on all ranks, if a rank has no part, or no GPU that accesses
  /// the others' memory and holds its part in half of its free memory; or if the run asks for another way to
  /// work on partitions, or is only planned. All ranks that own parts call it.
  static std::unique_ptr<PeerPartitions> open(ResidentGraph::Impl& graph, const PageRequest& pages);

  /// Calls `body` with the graph set to be whole on this rank: every partition is present. Returns when all
  /// ranks have done so. All of them call it; if one lacks memory, all throw BudgetError.
  void run(FunctionRef<void()> body);

  /// The columns of each rank's part.
  std::span<const PageView> views() const { return views_; }
  /// A plan with one part a rank; the rest of the device's memory is for instances. Throws BudgetError.
  PagedPlan plan(std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps) const;
  /// Adds what this rank has brought to `stats`.
  void count(RunStats& stats) const;

 private:
  class SingleRankScope;

  PeerPartitions(ResidentGraph::Impl& graph, const PageRequest& pages, PartitionPlan parts);
  bool connect(const PageColumns& columns);
  void close();

  ResidentGraph::Impl& graph_;
  Communicator& ranks_;
  PartitionPlan parts_;
  Slots own_slot_;
  std::vector<std::unique_ptr<PeerMemory>> peers_;  ///< one for each column
  std::vector<PageView> views_;                     ///< [ranks]
};

/// True if a run over ranks may read lists in the memory of other ranks' GPUs: it is not only planned, and
/// does not ask for another way to bring lists.
bool may_read_peers(const Device& device, const PagingOptions& paging);

/// Calls `body` with the partitions of other ranks readable, if that is possible; otherwise without.
void with_peer_partitions(ResidentGraph::Impl& graph, const PageRequest& pages, RunStats& stats,
                          FunctionRef<void()> body);

}  // namespace sluice
