// A graph in memory of a GPU, in both directions, that batches are applied to there.
#pragma once

#include <cstdint>
#include <span>

#include "engine/exec/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::cuda {

/// One pair whose entries change, as the lists of one direction see it. Edits are in order of row and column.
struct ListEdit {
  Vertex row = 0, column = 0;
  std::uint32_t removed = 0, inserted = 0;  ///< entries
  std::uint64_t weight = 0;                 ///< the place of the first inserted one's weight
  EdgeIndex begin = 0;                      ///< in the old lists
};

/// Lists of one direction. Columns have room beyond what they hold.
struct DeviceRows {
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  std::uint64_t vertices = 0, edges = 0;

  CsrView view() const { return {vertices, edges, offsets.data(), targets.data(), weights.data()}; }
};

class DeviceGraph {
 public:
  /// Copies the lists, and weights where `weighted`. Throws BudgetError where they do not fit.
  DeviceGraph(const Device& device, const Graph& graph, bool weighted);

  const CsrView& out() const { return out_view_; }
  /// Those of an undirected graph are its out-edges.
  const CsrView& in() const { return in_view_; }
  /// The changes of the last batch, [changes()].
  const EdgeChange* changes() const { return changes_.data(); }
  /// Edges of the longest list of out-edges; after a batch once its work has ended.
  std::uint64_t longest_out() const { return *longest_.data(); }

  /// Makes the graph what update_graph() made of it with `changes`: both directions are rewritten once, so it
  /// costs a copy of the lists and little more, whatever the batch. The work of the batch before has ended.
  /// Throws InputError where the changes do not lead to `graph`, BudgetError where new lists do not fit
  /// beside the old ones of one direction.
  void apply(const Graph& graph, std::span<const EdgeChange> changes, const Stream& stream);

 private:
  void upload(DeviceRows& rows, const Csr& from);
  void upload_changes(const Graph& graph, std::span<const EdgeChange> changes, const Stream& stream);
  /// Room for the batch, and an entry more.
  template <class Memory>
  void reserve_changes(Memory& memory, const char* purpose);
  void order_by_target(std::uint64_t vertices, const Stream& stream);
  void rewrite(DeviceRows& rows, bool reversed, std::uint64_t vertices, std::uint64_t edges,
               const Stream& stream);
  void set_views();
  void measure(const Stream& stream);

  const Device& device_;
  bool weighted_;
  DeviceRows out_, in_;  ///< of an undirected graph out_ alone
  DeviceRows spare_;     ///< what the lists of one direction are rewritten into
  CsrView out_view_, in_view_;
  std::uint64_t count_ = 0;  ///< of changes
  Buffer<EdgeChange> changes_;
  Staging<EdgeChange> staged_changes_;
  Buffer<std::uint32_t> keys_, sorted_keys_, places_, order_;  ///< order_: changes by target
  Buffer<std::uint64_t> first_weights_;                        ///< of a change, among inserted_weights_
  Buffer<float> inserted_weights_;
  Buffer<ListEdit> edits_;
  Buffer<std::uint64_t> shifts_;  ///< by how much entries before an edit move, modulo 2^64, and at the end
  Buffer<unsigned char> scratch_;
  Buffer<unsigned long long> measured_;
  Staging<unsigned long long> longest_;
};

}  // namespace sluice::cuda
