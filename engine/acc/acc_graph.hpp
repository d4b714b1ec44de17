// The graph as programs use it: out-edges, and in-edges where rounds may pull. It is either whole in the
// device's memory, or a rank's part, whose lists may come in partitions (rounds/rank_part.hpp).
#pragma once

#include <memory>
#include <optional>

#include "engine/acc/options.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

class AccGraph {
 public:
  /// Keeps references to all arguments. Makes the simple form of the graph in host memory, if needed; a plan
  /// charges its largest possible size. All ranks construct it together. Throws BudgetError if memory does
  /// not suffice, and the errors of RankPart().
  AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place = {});

  const Device& device() const { return *device_; }
  std::uint64_t vertices() const { return out_.vertices; }
  std::uint64_t edges() const { return out_.edges; }
  /// The part of the graph that this rank owns, in host memory or its file; the whole graph if complete().
  const RankPart& rank_part() const { return *rank_part_; }
  /// Does one process access the whole graph in place?
  bool complete() const { return rank_part_->complete(); }
  /// This rank's own vertices are [first(), last()).
  std::uint64_t first() const { return rank_part_->first(); }
  std::uint64_t last() const { return rank_part_->last(); }
  /// Lists in the device's memory; valid only for a complete graph.
  const CsrView& out() const { return out_; }
  /// In-lists; the offsets are null if there are no in-edges.
  const CsrView& in() const { return in_; }
  bool has_in_edges() const { return rank_part_->in().csr.offsets != nullptr; }
  /// Is every edge stored in both directions?
  bool symmetric() const { return rank_part_->symmetric(); }
  /// Default level width (delta) for shortest paths: wide enough for many vertices in a level, narrow enough
  /// that few are processed twice.
  double default_delta(AccDirection direction) const {
    return direction == AccDirection::push ? default_delta_ * joined_levels_factor_ : default_delta_;
  }
  double setup_seconds() const { return setup_seconds_; }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

 private:
  struct ListStorage {
    Buffer<EdgeIndex> offsets;
    std::optional<SweepLists> lists;
  };

  CsrView upload(const CsrView& source, ListStorage& storage, PendingEdges* pending_edges = nullptr);

  const Device* device_;
  std::shared_ptr<const RankPart> rank_part_;
  ListStorage out_storage_, in_storage_;
  CsrView out_, in_;
  double default_delta_ = 1,
         joined_levels_factor_ = 1;  ///< joined_levels_factor_: factor if kernels join levels
  double setup_seconds_ = 0;
  std::uint64_t uploaded_ = 0;
};

}  // namespace sluice::acc
