// Lists on a GPU whose graph is elsewhere: in its file, in partitions, or shared out over ranks. A query that
// comes to a list that is not here notes it, and is given up at the end of its round; what all of them noted
// is brought together, and they are asked again. A list stays until there is no memory left for others. So a
// query is answered from its beginning as often as it has rounds with a list that no query had before, L
// times at most for GD(L), and where many reach the same lists far less often. A query does not wait for a
// list: its block's workspace serves other queries meanwhile.
//
// Lists come by way of the host, whatever the transport: in partitions, or of the ranks that own them. Its
// threads gather what is missing, for each list is wanted once, and many go up at once. 2,048 queries by push
// on Kronecker 22, an H200 with 400 MiB and 16 cores: 24.5 ms so, 31 where the GPU read lists in place; from
// a file 0.11 s. With 8,192 queries that come to more lists, in 500 MiB, they took 0.59 s in place, and 0.69
// by way of the host.
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
#include "engine/ppr/query_rules.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// A list that is put into the cache.
struct CachedList {
  EdgeIndex place = 0;
  double total = 0;  ///< of its weights
  Vertex vertex = 0;
};

class ListCache {
 public:
  /// Keeps references to device, graph and options. Of the host's budget are partitions and what travels
  /// between ranks (`paging.shard`, who all make one at the same time, or all have a `shared` feeder, of a
  /// cache that outlives this one). Throws BudgetError, and UsageError for a transport that is not possible.
  ListCache(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
            std::shared_ptr<ListFeeder> shared);
  ~ListCache() { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  /// Takes memory for lists, if it has none: `bytes` at most.
  void prepare(std::uint64_t bytes);
  /// Says where lists are, and where those that are missing are to be noted.
  void describe(QueryRules& rules) const;
  /// Brings what queries have noted, side by side in any order: no result depends on it. None may be at
  /// work. False: it does not fit beside what is here, so nothing was brought, and what was noted is
  /// forgotten.
  bool bring();
  /// No list is here any more.
  void clear();
  /// Gives back the memory of lists, and with it all of them.
  void give_back();
  /// The same, and memory of the host.
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
    return offsets_.bytes() + places_.bytes() + totals_.bytes() + missing_.bytes() + staged_there_.bytes();
  }
  /// What is brought to the device, and what that takes of files and ranks.
  ListTraffic traffic() const;
  /// For others to share; null where lists come of no rank.
  std::shared_ptr<ListFeeder> rank_feeder() const { return paging_.shard ? feeder_ : nullptr; }

 private:
  /// Page-locked memory that goes up at once.
  struct Stage {
    Stage(const Graph& graph, const Options& options);
    std::uint64_t edges, lists;
  };

  template <class T>
  void clear(const Buffer<T>& column, int byte);
  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* const offsets = graph_.out.offsets.data() + v;
    return offsets[1] - offsets[0];
  }
  ListFeeder& feeder();
  /// Returns how many of the lists were wanted.
  std::uint64_t take(const ListsAtHand& lists);
  void add(Vertex v, const ListColumns& list);
  void send();
  void stage(std::uint64_t i, bool fits);
  void up(void* to, const void* from, std::uint64_t bytes);

  const Device& device_;
  const Device host_;  ///< where feeders have what they take
  const Graph& graph_;
  const Options& options_;
  PagingOptions paging_;  ///< of feeders
  cuda::Stream stream_;
  Buffer<EdgeIndex> offsets_;      ///< [vertices + 1] the graph's
  Buffer<EdgeIndex> places_;       ///< [vertices] where lists begin
  Buffer<double> totals_;          ///< [vertices] sums of weights; empty where the run splits evenly
  Buffer<std::uint64_t> missing_;  ///< bits of the lists that are to come, 64 vertices a word
  WantedLists wanted_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;                  ///< empty where the run splits evenly
  std::uint64_t capacity_ = 0, used_ = 0;  ///< in edges
  Stage stage_;
  Staging<Vertex> staged_targets_;
  Staging<float> staged_weights_;
  Staging<CachedList> staged_;
  Buffer<CachedList> staged_there_;
  std::vector<ListColumns> lists_;  ///< that wait to go up
  std::uint64_t waiting_ = 0;       ///< their edges
  std::shared_ptr<ListFeeder> feeder_;
  ListTraffic traffic_, brought_;  ///< brought_: by feeders before
};

}  // namespace sluice::ppr
