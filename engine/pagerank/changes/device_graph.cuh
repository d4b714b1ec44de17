// A graph in memory of a GPU, in both directions, that batches are applied to there.
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
  /// Copies the lists, and weights where `weighted`. Throws BudgetError where they do not fit.
  DeviceGraph(const Device& device, const Graph& graph, bool weighted);

  const CsrView& out() const { return out_view_; }
  /// Those of an undirected graph are its out-edges.
  const CsrView& in() const { return in_view_; }
  /// The changes of the last batch, [changes()].
  const EdgeChange* changes() const { return upload_.view().changes; }
  /// Edges of the longest list of out-edges; after a batch once its work has ended.
  std::uint64_t longest_out() const { return device_.plans() ? 0 : *longest_.data(); }
  /// Of the lists, and what they are rewritten into.
  std::uint64_t bytes() const { return out_.bytes() + in_.bytes() + spare_.bytes(); }

  /// Makes the graph what update_graph() made of it with `changes`: both directions are rewritten once, so it
  /// costs a copy of the lists and little more, whatever the batch. The work of the batch before has ended,
  /// and the changes stay until that of this one has. Throws InputError where the changes do not lead to
  /// `graph`, BudgetError where new lists do not fit beside the old ones of one direction.
  void apply(const Graph& graph, const EdgeChanges& changes, const cuda::Stream& stream);
  /// Of the device, on the lists of the last batch since it knew the places of the first changes. The batch's
  /// work has ended.
  double rewrite_seconds() const { return changed_ ? rewriting_.seconds() : 0; }

 private:
  void copy_lists(DeviceRows& rows, const Csr& from);
  void order_by_target(std::uint64_t vertices, cudaStream_t stream);
  void rewrite_out(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream);
  void rewrite_in(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream);
  /// Takes memory for the lists of `graph`, in one direction.
  void make_spare(const Graph& graph);
  void set_views();

  const Device& device_;
  bool weighted_;
  bool changed_ = false;  ///< by the last batch
  DeviceRows out_, in_;   ///< of an undirected graph out_ alone
  DeviceRows spare_;      ///< what the lists of one direction are rewritten into
  CsrView out_view_, in_view_;
  ChangeUpload upload_;
  ListRewriter out_rewriter_, in_rewriter_;
  cuda::UrgentStream beside_;  ///< brings changes, and looks them up in in-lists, while lists are rewritten
  Buffer<std::uint32_t> keys_, sorted_keys_, places_, order_;  ///< order_: changes by target
  Buffer<unsigned char> scratch_;
  Buffer<unsigned long long> measured_;
  Staging<unsigned long long> longest_;
  cuda::Timer rewriting_;
};

}  // namespace sluice::pagerank
