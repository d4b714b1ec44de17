// Adjacency cache of a GPU whose graph is elsewhere: in a file, in partitions, or shared out over ranks. A
// query that reaches a missing list notes it, and is abandoned at the end of its round. The noted lists of
// all queries are fetched together, and the queries run again. A list stays until no memory is left for
// others. A query thus restarts once per round with a list that no query had before: at most L times for
// GD(L), and far less often if many queries reach the same lists. Queries do not wait for lists: the
// workspace of a block serves other queries meanwhile.
//
// Lists always come by way of the host, in partitions or from the ranks that own them. Its threads gather the
// missing lists, since each is wanted once, and many are copied at once. 2,048 queries by push on Kronecker
// 22, on an H200 with 400 MiB and 16 cores, take 24.5 ms this way, 31 if the GPU reads lists in place, and
// 0.11 s from a file. 8,192 queries that reach more lists, in 500 MiB, take 0.59 s in place, and 0.69 this
// way.
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

/// A list to be put into the cache.
struct CachedList {
  EdgeIndex position = 0;
  double total = 0;  ///< sum of its weights
  Vertex vertex = 0;
};

class ListCache {
 public:
  /// Keeps references to device, graph and options. Partitions and transfers between ranks use the host
  /// budget. With `paging.shard`, all ranks make a cache at the same time, or all use the `shared` feeder of
  /// a cache that outlives this one. Throws BudgetError, and UsageError for a transport that is not possible.
  ListCache(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
            std::shared_ptr<ListFeeder> shared);
  ~ListCache() { cudaStreamSynchronize(stream_.get()); }  // pending work uses the buffers

  /// Allocates at most `bytes` for lists, if it has no memory yet.
  void prepare(std::uint64_t bytes);
  /// Sets where lists are, and where queries note missing ones.
  void describe(QueryRules& rules) const;
  /// Fetches all lists that queries have noted, in any order: no result depends on it. No query may run.
  /// False if they do not fit beside the cached ones: then nothing is fetched, and the notes are cleared.
  bool fetch_missing();
  /// Drops all lists.
  void clear();
  /// Frees the memory of lists, and drops them all.
  void release();
  /// The same, and frees memory of the host.
  void release_all();
  /// Other ranks may still need lists of this one; returns once none does.
  void finish() {
    if (feeder_) feeder_->finish();
  }
  /// For a query that runs alone: throws BudgetError.
  [[noreturn]] void throw_too_many_lists() const;
  /// Device memory for lists.
  std::uint64_t bytes() const { return targets_.bytes() + weights_.bytes(); }
  /// Device memory for their places, beside the lists.
  std::uint64_t index_bytes() const {
    return offsets_.bytes() + positions_.bytes() + totals_.bytes() + missing_.bytes() +
           staged_on_device_.bytes();
  }
  /// Copies to the device, and what was read from files and ranks for them.
  ListTraffic traffic() const;
  /// The feeder for other caches to share; null unless lists come from ranks.
  std::shared_ptr<ListFeeder> rank_feeder() const { return paging_.shard ? feeder_ : nullptr; }

 private:
  /// Page-locked memory that is copied to the device at once.
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
  /// Takes the wanted lists of these; returns their number.
  std::uint64_t add_lists(const AvailableLists& lists);
  void stage_list(Vertex v, const ListColumns& list);
  void flush();
  void copy_to_stage(std::uint64_t i, bool fits);
  void upload(void* target, const void* source, std::uint64_t bytes);

  const Device& device_;
  const Device host_;  ///< where feeders have their memory
  const Graph& graph_;
  const Options& options_;
  PagingOptions paging_;  ///< of feeders
  cuda::Stream stream_;
  Buffer<EdgeIndex> offsets_;      ///< [vertices + 1] the graph's
  Buffer<EdgeIndex> positions_;    ///< [vertices] where lists begin
  Buffer<double> totals_;          ///< [vertices] sums of weights; empty unless the run is weighted
  Buffer<std::uint64_t> missing_;  ///< bitmap of missing lists, 64 vertices a word
  WantedLists wanted_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;                  ///< empty unless the run is weighted
  std::uint64_t capacity_ = 0, used_ = 0;  ///< in edges
  Stage stage_;
  Staging<Vertex> staged_targets_;
  Staging<float> staged_weights_;
  Staging<CachedList> staged_;
  Buffer<CachedList> staged_on_device_;
  std::vector<ListColumns> lists_;  ///< that wait to be copied
  std::uint64_t staged_edges_ = 0;  ///< their edges
  std::shared_ptr<ListFeeder> feeder_;
  ListTraffic traffic_, earlier_traffic_;  ///< earlier_traffic_: by earlier feeders
};

}  // namespace sluice::ppr
