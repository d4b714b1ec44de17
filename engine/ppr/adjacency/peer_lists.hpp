// Lists that ranks share out, each rank's in the memory of its GPU, where all of them read over NVLink. A
// query then comes to every list as if its GPU had the whole graph, and no rank waits for another's queries.
//
// PeerPartitions has a view a rank, and memory of its own for each column. Queries would look up the owner of
// every list, and weights would take a second place a vertex; with one place they read these lists as they
// read a cache's (cache.cuh).
//
// 65,536 queries by push on Kronecker 23: two H200s take 89 ms so, 1,027 where lists travel through the
// hosts; one that has the graph takes 174.
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
  /// Brings this rank's lists to its GPU. Null, on all ranks, where they have not each a GPU that reaches the
  /// others' memory and holds its part in half of what is free, where the run asks for another way to bring
  /// lists, or is only planned. All ranks call it, and finish() what it returns.
  static std::unique_ptr<PeerLists> open(const Device& device, const Graph& graph, const Options& options,
                                         const PagingOptions& paging);
  ~PeerLists();

  /// The list of vertex v begins at `targets() + places()[v]`, its weights, where the run reads them, at
  /// `weights() + places()[v]`. On the device.
  const Vertex* targets() const { return targets_; }
  const float* weights() const { return weights_; }
  const EdgeIndex* places() const { return places_.data(); }
  /// [vertices] sums of weights; null where the run splits evenly. On the device.
  const double* totals() const { return totals_.data(); }

  /// Of this rank: on its device, and read from a file.
  std::uint64_t bytes() const { return part_.bytes() + places_.bytes() + totals_.bytes(); }
  std::uint64_t read_bytes() const { return read_bytes_; }

  /// No query of this rank reads lists any more. Returns once none of another rank does.
  void finish();

 private:
  /// The largest part has `most` edges.
  PeerLists(const Device& device, const Graph& graph, const Options& options, Communicator& ranks,
            Ownership owners, std::uint64_t most);
  void bring(const Device& device, const Graph& graph, const Options& options);
  bool connect(const Device& device, const Graph& graph);

  Router router_;       ///< of vertices: each rank has the lists of its own
  std::uint64_t most_;  ///< edges of a part: its weights lie as far behind its targets
  Buffer<Vertex> part_;
  std::unique_ptr<PeerMemory> peers_;
  const Vertex* targets_ = nullptr;
  const float* weights_ = nullptr;
  Buffer<EdgeIndex> places_;
  Buffer<double> totals_;
  std::uint64_t read_bytes_ = 0;
};

}  // namespace sluice::ppr
