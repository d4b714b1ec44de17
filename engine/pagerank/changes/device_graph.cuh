// A graph in GPU memory, in both directions, to which the GPU applies batches of changes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/changes/change_upload.cuh"
#include "engine/pagerank/changes/csr_update.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

class DeviceGraph {
 public:
  /// Copies the lists, with weights if `weighted`. Throws BudgetError if they do not fit.
  DeviceGraph(const Device& device, const Graph& graph, bool weighted);

  CsrView out() const { return out_.view(); }
  /// In-edges; for an undirected graph its out-edges.
  CsrView in() const { return in_.offsets.empty() ? out() : in_.view(); }
  /// The changes of the last batch, [changes()].
  const EdgeChange* changes() const { return upload_.view().changes; }
  /// Edges of the longest out-list. After apply(), valid once the work of the batch has ended.
  std::uint64_t max_out_degree() const { return device_.is_planning() ? 0 : *max_degree_.data(); }
  /// Bytes of the lists, and of the spare memory that they are rewritten into.
  std::uint64_t bytes() const { return out_.bytes() + in_.bytes() + spare_.bytes(); }

  /// Applies `changes`, with which update_graph() made `graph`. Both directions are rewritten once, so the
  /// cost is a copy of the lists and little more, for any batch. The work of the previous batch must have
  /// ended, and `changes` must stay valid until the work of this one has. Throws InputError if the changes do
  /// not lead to `graph`, BudgetError if new lists do not fit beside the old ones of one direction.
  void apply(const Graph& graph, const EdgeChanges& changes, const cuda::Stream& stream);
  /// Device seconds of rewriting lists in the last batch, since the device had the places of the first
  /// changes. Valid once the work of the batch has ended.
  double rewrite_seconds() const { return changed_ ? rewrite_timer_.seconds() : 0; }

 private:
  void copy_lists(DeviceRows& rows, const Csr& from);
  void order_by_target(std::uint64_t vertices, cudaStream_t stream);
  void rewrite_out(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream);
  void rewrite_in(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream);
  /// Allocates memory for the lists of `graph`, in one direction.
  void reserve_spare(const Graph& graph);

  const Device& device_;
  bool weighted_;
  bool changed_ = false;  ///< whether the last batch changed anything
  DeviceRows out_, in_;   ///< an undirected graph has only out_
  DeviceRows spare_;      ///< where the lists of one direction are rewritten to
  ChangeUpload upload_;
  ListRewriter out_rewriter_, in_rewriter_;
  /// Copies changes and finds edits of in-lists, while lists are rewritten.
  cuda::HighPriorityStream side_stream_;
  Buffer<std::uint32_t> keys_, sorted_keys_, positions_, order_;  ///< order_: changes by target
  Buffer<unsigned char> scratch_;
  Buffer<unsigned long long> measured_max_degree_;
  Staging<unsigned long long> max_degree_;
  cuda::Timer rewrite_timer_;
};

}  // namespace sluice::pagerank
