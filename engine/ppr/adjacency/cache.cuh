// Lists on a GPU whose graph is elsewhere: in partitions, in its file, or shared out over ranks. A query that
// comes to a list that is not here notes it, and is given up at the end of its round; what all of them noted
// is brought together, and they are asked again. Partitions come to slots, the busiest first, or are read in
// place where little of them is wanted; a kernel copies lists from there. What other ranks send comes by way
// of the host. A list stays until there is no memory left for others. So a query is answered from its
// beginning as often as it has rounds with a list that no query had before, L times at most for GD(L), and
// where many reach the same lists far less often. A query does not wait for a list: its block's workspace
// serves other queries meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/adjacency/wanted.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/query_rules.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// Where a list that a rank has sent goes.
struct SentList {
  EdgeIndex place = 0;
  Vertex vertex = 0;
};

class ListCache {
 public:
  /// Keeps references to device, graph and options. With `paging.shard` all ranks make one at the same time,
  /// or all have a `shared` feeder, of a cache that outlives this one; partitions and what travels are of the
  /// host's budget then. Throws BudgetError, and UsageError for a transport that is not possible.
  ListCache(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
            std::shared_ptr<ListFeeder> shared);

  /// Takes memory for slots, if it has none: comes before that of workspaces is known. `least`: two of them.
  void open(bool least = false);
  /// Takes memory for lists, if it has none: `bytes` at most.
  void prepare(std::uint64_t bytes);
  /// Says where lists are, and where those that are missing are to be noted.
  void describe(QueryRules& rules) const;
  /// Brings what queries have noted; none may be at work. False: it does not fit beside what is here, so
  /// nothing was brought, and what was noted is forgotten.
  bool bring();
  /// No list is here any more.
  void clear();
  /// Gives back the memory of lists, and with it all of them.
  void give_back();
  /// The same, and memory of slots.
  void rest();
  /// Other ranks may still want lists of this one; returns once none does.
  void finish() {
    if (feeder_) feeder_->finish();
  }
  /// Of one query alone: throws BudgetError.
  [[noreturn]] void throw_too_many_lists() const;
  /// Memory for lists on the device.
  std::uint64_t bytes() const { return targets_.bytes() + weights_.bytes(); }
  /// What says where lists are, beside them.
  std::uint64_t index_bytes() const {
    return offsets_.bytes() + places_.bytes() + totals_.bytes() + missing_.bytes();
  }
  /// What is brought to the device, and what that takes of files and ranks.
  ListTraffic traffic() const;
  /// For others to share; null where lists come of no rank.
  std::shared_ptr<ListFeeder> rank_feeder() const { return feeder_; }

 private:
  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* const offsets = graph_.out.offsets.data() + v;
    return offsets[1] - offsets[0];
  }
  /// Both are false where what is missing does not fit.
  bool bring_partitions();
  bool ask_ranks();
  void copy_lists(const SweepPage& page);
  void take(const ListRange& sent);
  void up(void* to, const void* from, std::uint64_t bytes);

  const Device& device_;
  const Device host_;  ///< where ranks have what they send
  const Graph& graph_;
  const Options& options_;
  PagingOptions paging_;
  cuda::CudaExecutor executor_;
  Buffer<EdgeIndex> offsets_, places_;
  Buffer<double> totals_;
  Buffer<std::uint64_t> missing_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
  std::uint64_t capacity_ = 0, used_ = 0;  ///< in edges
  ListTraffic traffic_;
  // Lists that come in partitions.
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Buffer<unsigned long long>
      counters_;  ///< lists, edges [partitions], the next list's place, an executor's sums
  // Lists that ranks send.
  std::shared_ptr<ListFeeder> feeder_;
  WantedLists wanted_;
  std::uint64_t missing_count_ = 0;
  Staging<SentList> sent_;
  Buffer<SentList> uploaded_;
};

}  // namespace sluice::ppr
