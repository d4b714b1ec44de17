// Lists shared out over ranks, each rank's in the memory of its GPU. All ranks read them over NVLink. A query
// then reaches every list as if its GPU held the whole graph, and no rank waits for another's queries.
//
// PeerPartitions has a view per rank, and separate memory for each column. Queries would have to look up the
// owner of every list, and weights would need a second place per vertex. With one place, queries read these
// lists as they read those of a cache (cache.cuh).
//
// 65,536 queries by push on Kronecker 23: two H200s take 89 ms, and 1,027 if lists travel through the hosts;
// one that holds the graph takes 174.
#pragma once

#include <memory>

#include "engine/exchange/peer_memory.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/paging.hpp"
#include "engine/ppr/options.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

class PeerLists {
 public:
  /// Copies this rank's lists to its GPU. Null on all ranks unless each has a GPU that reaches the others'
  /// memory and holds its part in half of the free memory; also if the run asks for another way to fetch
  /// lists, or is only planned. All ranks call it, and finish() of the result.
  static std::unique_ptr<PeerLists> open(const Device& device, const Graph& graph, const Options& options,
                                         const PagingOptions& paging);

  /// The list of vertex v begins at `targets() + positions()[v]`, its weights, if the run reads them, at
  /// `weights() + positions()[v]`. In device memory.
  const Vertex* targets() const { return targets_; }
  const float* weights() const { return weights_; }
  const EdgeIndex* positions() const { return positions_.data(); }
  /// [vertices] sums of weights; null unless the run is weighted. In device memory.
  const double* totals() const { return totals_.data(); }

  /// Of this rank: bytes on its device, and bytes read from a file.
  std::uint64_t bytes() const { return part_.bytes() + positions_.bytes() + totals_.bytes(); }
  std::uint64_t read_bytes() const { return read_bytes_; }

  /// Queries of this rank read no more lists. Returns once those of all other ranks read none.
  void finish();

 private:
  /// `max_edges`: edges of the largest part.
  PeerLists(const Device& device, const Graph& graph, const Options& options, Communicator& ranks,
            Ownership owners, std::uint64_t max_edges);
  void load_part(const Device& device, const Graph& graph, const Options& options);
  bool connect(const Device& device, const Graph& graph);

  Router router_;       ///< by vertex; each rank holds the lists of its own vertices
  std::uint64_t max_part_edges_;  ///< edges of the largest part: offset of weights behind targets
  Buffer<Vertex> part_;
  std::unique_ptr<PeerMemory> peers_;
  const Vertex* targets_ = nullptr;
  const float* weights_ = nullptr;
  Buffer<EdgeIndex> positions_;
  Buffer<double> totals_;
  std::uint64_t read_bytes_ = 0;
};

}  // namespace sluice::ppr
