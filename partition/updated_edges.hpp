// The edges of a graph that changed, where those of the graph before stay in a file: what is read of them is
// put together from the file and the edits. So a batch on a graph larger than memory takes what the batch
// takes, and nothing is rewritten until somebody wants the new graph's file.
#pragma once

#include <memory>

#include "engine/core/host_array.hpp"
#include "partition/row_edits.hpp"

namespace sluice {

/// What a batch brings, by its sorted records.
struct InsertedEdges {
  HostArray<Vertex> targets;
  HostArray<float> weights;       ///< or empty
  HostArray<std::int64_t> times;  ///< or empty
};

class UpdatedEdges final : public EdgeSource {
 public:
  /// Of host memory that a thread takes while it reads, where there is not more.
  static constexpr std::uint64_t kLeastBytes = 4u << 10;

  /// Edits are those of `old`, in order, and name their insertions.
  UpdatedEdges(std::shared_ptr<const EdgeSource> old, HostArray<RowEdit> edits, InsertedEdges inserted);

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override;
  void read_weights(EdgeIndex first, std::span<float> out) const override;
  bool timed() const override { return old_->timed(); }
  void read_times(EdgeIndex first, std::span<std::int64_t> out) const override;

 private:
  template <class T, class Old>
  void read(EdgeIndex first, std::span<T> out, const HostArray<T>& inserted, Old&& old) const;

  std::shared_ptr<const EdgeSource> old_;
  HostArray<RowEdit> edits_;
  InsertedEdges inserted_;
};

}  // namespace sluice
