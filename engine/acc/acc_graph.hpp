// A graph as programs run on it: out-edges, and in-edges where a pull may want them. It is whole, in the
// device's memory, or a rank's part, which may be brought in partitions (rounds/rank_part.hpp).
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
  /// Keeps references to all. The simple form of the graph is made in host memory; of a run that is only
  /// planned, what it takes at most is charged. Several ranks all make one. Throws BudgetError where memory
  /// does not suffice, and as RankPart().
  AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place = {});

  const Device& device() const { return *device_; }
  std::uint64_t vertices() const { return out_.vertices; }
  std::uint64_t edges() const { return out_.edges; }
  /// What this rank owns, in host memory or its file: everything where the graph is complete.
  const RankPart& rank_part() const { return *rank_part_; }
  /// Does one process reach everything in place?
  bool complete() const { return rank_part_->complete(); }
  /// Vertices [first(), last()), those that this rank owns.
  std::uint64_t first() const { return rank_part_->first(); }
  std::uint64_t last() const { return rank_part_->last(); }
  /// In the device's memory, of a complete graph alone.
  const CsrView& out() const { return out_; }
  /// Offsets are null where there are no in-edges.
  const CsrView& in() const { return in_; }
  bool has_in_edges() const { return rank_part_->in().in.offsets != nullptr; }
  /// Is every edge there in both directions?
  bool symmetric() const { return rank_part_->symmetric(); }
  /// A width for the levels of shortest paths: wide enough for many vertices, so narrow that few are worked
  /// on twice.
  double usual_delta(AccDirection direction) const {
    return direction == AccDirection::push ? usual_delta_ * joined_width_ : usual_delta_;
  }
  double setup_seconds() const { return setup_seconds_; }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

 private:
  struct OnDevice {
    Buffer<EdgeIndex> offsets;
    std::optional<SweepLists> lists;
  };

  CsrView upload(const CsrView& from, OnDevice& to, EdgesToCome* to_come = nullptr);

  const Device* device_;
  std::shared_ptr<const RankPart> rank_part_;
  OnDevice out_there_, in_there_;
  CsrView out_, in_;
  double usual_delta_ = 1, joined_width_ = 1;  ///< the second of levels that kernels join
  double setup_seconds_ = 0;
  std::uint64_t uploaded_ = 0;
};

}  // namespace sluice::acc
