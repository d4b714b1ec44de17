// The graph on a GPU, as queries of one or several runs read it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/ppr/adjacency/peer_lists.hpp"
#include "engine/ppr/options.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// The in-edges of a graph: its own lists if each edge is stored in both directions.
class InEdgesOnDevice {
 public:
  /// `out` is the graph on the device, and must outlive this. Builds in-edges if the graph does not store
  /// them. Throws BudgetError.
  InEdgesOnDevice(const Device& device, const Graph& graph, const CsrView& out);

  /// Weights are null if `out` has none.
  const CsrView& view() const { return view_; }
  /// Vertices with more than kBlockDegree in-edges.
  const Buffer<Vertex>& long_rows() const { return long_rows_; }
  /// [vertices] reciprocals of out-degrees (mass.hpp); 0 for degree 0.
  const std::uint64_t* reciprocals() const { return reciprocals_.data(); }
  /// Bytes on the device.
  std::uint64_t bytes() const {
    return offsets_.bytes() + (lists_ ? lists_->planned_bytes() : 0) + long_rows_.bytes() +
           reciprocals_.bytes();
  }

 private:
  CsrView view_;
  Buffer<EdgeIndex> offsets_;
  std::optional<SweepLists> lists_;
  Buffer<Vertex> long_rows_;
  Buffer<std::uint64_t> reciprocals_;
};

class GraphOnDevice {
 public:
  /// Keeps references to device and graph. `in_place`: lists stay in host memory. Throws BudgetError.
  GraphOnDevice(const Device& device, const Graph& graph, const Options& options, bool in_place);
  /// The same, with lists on the GPUs of all ranks.
  GraphOnDevice(const Device& device, const Graph& graph, std::unique_ptr<PeerLists> lists);

  /// Weights are null unless the run is weighted.
  const CsrView& view() const { return view_; }
  /// [vertices] sums of weights; null unless the run is weighted.
  const double* totals() const { return peers_ ? peers_->totals() : totals_.data(); }
  /// [vertices] where each list begins in the view's columns; null: as offsets say.
  const EdgeIndex* positions() const { return peers_ ? peers_->positions() : nullptr; }
  bool in_place() const { return in_place_; }
  /// True if this device holds all lists.
  bool is_whole() const { return !in_place_ && !peers_; }
  /// Other ranks may still read lists of this one; returns once none does.
  void finish() {
    if (peers_) peers_->finish();
  }
  /// Null if memory does not suffice: in-edges may take only a part of the free device memory.
  const InEdgesOnDevice* in_edges();
  /// Bytes of lists that were read from a file.
  std::uint64_t read_bytes() const { return peers_ ? peers_->read_bytes() : 0; }
  /// Bytes on the device.
  std::uint64_t bytes() const {
    return offsets_.bytes() + (lists_ ? lists_->planned_bytes() : 0) + totals_.bytes() +
           (in_ ? in_->bytes() : 0) + (peers_ ? peers_->bytes() : 0);
  }

 private:
  const Device& device_;
  const Graph& graph_;
  CsrView view_;
  bool in_place_;
  std::vector<PageLock> locks_;
  Buffer<EdgeIndex> offsets_;
  std::optional<SweepLists> lists_;
  Buffer<double> totals_;
  std::unique_ptr<InEdgesOnDevice> in_;
  std::unique_ptr<PeerLists> peers_;
};

}  // namespace sluice::ppr
