// The edges of an updated graph whose old edges stay in a file: every read combines the file with the edits.
// So a batch on a graph larger than memory takes only the memory of the batch, and nothing is rewritten until
// the new graph is written to a file.
#pragma once

#include <memory>

#include "engine/core/host_array.hpp"
#include "partition/row_edits.hpp"

namespace sluice {

/// The inserted edges of a batch, in the order of its sorted records.
struct InsertedEdges {
  HostArray<Vertex> targets;
  HostArray<float> weights;       ///< or empty
  HostArray<std::int64_t> times;  ///< or empty
};

class UpdatedEdges final : public EdgeSource {
 public:
  /// Least bytes of host memory that a thread takes while it reads.
  static constexpr std::uint64_t kMinBytes = 4u << 10;

  /// `edits` are edits of `old`, in order; RowEdit::first is an index into `inserted`.
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
