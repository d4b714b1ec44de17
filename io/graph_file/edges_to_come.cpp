// Reads the edges of a graph while threads already process the lists that have been read.
#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/search.hpp"
#include "io/graph_file/graph_reader.hpp"

namespace sluice::io {
namespace {

/// Tracks which blocks of edges have been read; threads take the blocks in order.
class BlockTracker {
 public:
  BlockTracker(std::uint64_t edges, std::uint64_t grain)
      : grain_(grain), read_(std::make_unique<std::atomic<bool>[]>(edges / grain + 1)) {}

  void mark_read(EdgeIndex begin) {
    read_[begin / grain_].store(true);
    read_[begin / grain_].notify_all();
  }
  /// Waits until the blocks from edge `first` to edge `end` have been read by other threads.
  void wait(EdgeIndex first, EdgeIndex end) const {
    for (std::uint64_t block = first / grain_; block < end / grain_; ++block) read_[block].wait(false);
  }

 private:
  std::uint64_t grain_;
  std::unique_ptr<std::atomic<bool>[]> read_;
};

class PendingRows final : public PendingEdges {
 public:
  PendingRows(std::shared_ptr<const GraphFile> file, bool in, const GraphInfo& info, Csr& rows)
      : file_(std::move(file)),
        vertices_(info.vertices),
        offsets_(rows.offsets.span()),
        targets_(rows.targets.span()),
        weights_(rows.weights.span()),
        times_(rows.times.span()) {
    columns_.push_back(file_->open(part_of(GraphPart::out_indices, in)));
    if (info.weighted) columns_.push_back(file_->open(part_of(GraphPart::out_data, in)));
    if (info.timed) columns_.push_back(file_->open(part_of(GraphPart::out_times, in)));
  }

  bool complete() const override { return complete_; }

  void read(unsigned threads, const UseLists& use) override {
    if (complete_) return;
    for (const Column& column : columns_) column.read_ahead(0, kReadAheadBytes);
    const std::uint64_t edges = targets_.size();
    // Blocks are smaller if lists are used: a thread waits for its first list, and at the end for the others.
    const std::uint64_t grain =
        use ? std::clamp(edges / (std::uint64_t{32} * std::max(threads, 1u)), kMinGrain, kMaxGrain)
            : Column::kGrain;
    BlockTracker blocks(edges, grain);
    Faults faults;
    parallel_blocks(threads, edges, grain, [&](EdgeIndex begin, EdgeIndex end, unsigned thread) {
      try {
        read_block(begin, end, faults);
      } catch (...) {
        faults.failed = true;
        blocks.mark_read(begin);
        throw;
      }
      blocks.mark_read(begin);
      if (!use) return;
      const std::uint64_t first = lists_within(begin), last = lists_within(end);
      if (first == last) return;
      blocks.wait(offsets_[first], begin);
      if (!faults.found_before(end)) use(first, last, thread);
    });
    faults.targets.rethrow();
    faults.weights.rethrow();
    if (use && edges == 0) use(0, vertices_, 0);
    complete_ = true;
    columns_.clear(), file_.reset();  // HDF5 locks the file while it is open
  }

 private:
  static constexpr std::uint64_t kMinGrain = 1u << 16, kMaxGrain = 1u << 18;

  struct Faults {
    FirstFault targets, weights;
    std::atomic<bool> failed{false};  ///< a read threw

    bool found_before(EdgeIndex edge) const {
      return failed || targets.found_before(edge) || weights.found_before(edge);
    }
  };

  void read_block(EdgeIndex begin, EdgeIndex end, Faults& faults) const {
    for (const Column& column : columns_)
      column.read_ahead(begin * column.element_bytes() + kReadAheadBytes,
                        (end - begin) * column.element_bytes());
    const auto block_of = [&](auto column) { return column.subspan(begin, end - begin); };
    if (!faults.targets.found_before(begin))
      read_targets(columns_[0], vertices_, begin, block_of(targets_), faults.targets);
    if (!weights_.empty() && !faults.weights.found_before(begin))
      read_weights(columns_[1], begin, block_of(weights_), faults.weights);
    if (!times_.empty()) columns_.back().read(begin, block_of(times_));
  }

  /// Number of leading vertices with their lists within the first `edges` edges; for all edges, all vertices.
  std::uint64_t lists_within(EdgeIndex edges) const {
    if (edges == 0) return 0;
    return count_while(vertices_, [&](std::uint64_t v) { return offsets_[v + 1] <= edges; });
  }

  std::shared_ptr<const GraphFile> file_;
  std::uint64_t vertices_;
  std::span<const EdgeIndex> offsets_;
  std::span<Vertex> targets_;
  std::span<float> weights_;
  std::span<std::int64_t> times_;
  std::vector<Column> columns_;  ///< targets, weights, times
  bool complete_ = false;
};

}  // namespace

std::shared_ptr<PendingEdges> make_pending_edges(std::shared_ptr<const GraphFile> file, bool in,
                                                 const GraphInfo& info, Csr& rows) {
  return std::make_shared<PendingRows>(std::move(file), in, info, rows);
}

}  // namespace sluice::io
