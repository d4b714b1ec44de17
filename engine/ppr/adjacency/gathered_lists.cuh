// Lists that come to a GPU's cache by way of the host: in partitions, or of the ranks that own them. The
// host's threads gather those that are missing, and they go up many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/memory/paging.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/adjacency/wanted.hpp"
#include "engine/ppr/options.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// The cache's columns, in the device's memory.
struct CacheColumns {
  EdgeIndex* places = nullptr;  ///< [vertices] where lists begin
  double* totals = nullptr;     ///< [vertices] sums of weights; null where the run splits evenly
  Vertex* targets = nullptr;
  float* weights = nullptr;  ///< null where the run splits evenly
  EdgeIndex used = 0;        ///< what comes lies behind so many edges
};

/// A list that is put into the cache.
struct CachedList {
  EdgeIndex place = 0;
  double total = 0;  ///< of its weights
  Vertex vertex = 0;
};

class GatheredLists {
 public:
  /// Keeps references to device, graph and options. Of the host's budget are partitions and what travels
  /// between ranks (`paging.shard`, who all make one at the same time, or all have a `shared` one, of a cache
  /// that outlives this one). Throws BudgetError, and UsageError for a transport that is not possible.
  GatheredLists(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
                std::shared_ptr<ListFeeder> shared);
  ~GatheredLists() { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  /// Brings the lists that are wanted, for which there is memory, side by side in any order: no result
  /// depends on it. Says where they are, and sums up their weights.
  void bring(WantedLists& wanted, const CacheColumns& to);
  /// Gives back memory of the host.
  void rest();
  /// Other ranks may still want lists of this one; returns once none does.
  void finish() {
    if (feeder_) feeder_->finish();
  }
  /// What it keeps on the device all the time.
  std::uint64_t bytes() const { return staged_there_.bytes(); }
  ListTraffic traffic() const;
  /// For others to share; null where lists come of no rank.
  std::shared_ptr<ListFeeder> rank_feeder() const { return paging_.shard ? feeder_ : nullptr; }

 private:
  /// Page-locked memory that goes up at once.
  struct Stage {
    Stage(const Graph& graph, const Options& options);
    std::uint64_t edges, lists;
  };

  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* const offsets = graph_.out.offsets.data() + v;
    return offsets[1] - offsets[0];
  }
  ListFeeder& feeder();
  /// Returns how many of the lists were wanted.
  std::uint64_t take(const ListsAtHand& lists, WantedLists& wanted);
  void add(Vertex v, const ListColumns& list);
  void send();
  void stage(std::uint64_t i, bool fits);
  void up(void* to, const void* from, std::uint64_t bytes);

  const Device& device_;
  const Device host_;  ///< where feeders have what they take
  const Graph& graph_;
  const Options& options_;
  PagingOptions paging_;
  cuda::Stream stream_;
  Stage stage_;
  Staging<Vertex> staged_targets_;
  Staging<float> staged_weights_;
  Staging<CachedList> staged_;
  Buffer<CachedList> staged_there_;
  CacheColumns to_;
  std::vector<ListColumns> lists_;  ///< that wait to go up
  std::uint64_t waiting_ = 0;       ///< their edges
  std::shared_ptr<ListFeeder> feeder_;
  ListTraffic traffic_, brought_;  ///< brought_: by feeders before
};

}  // namespace sluice::ppr
