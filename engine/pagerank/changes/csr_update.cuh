// The CSR update: lists in GPU memory, and the single pass that makes changed lists from the old ones.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

/// The edit of one pair's entries in the lists of one direction. Edits are in order of row and column.
struct alignas(16) ListEdit {
  EdgeIndex begin;  ///< position in the old lists
  Vertex row;
  std::uint32_t inserted;  ///< entries
};

/// Edits of lists, and how far they move entries.
struct EditBuffers {
  ListEdit* edits;        ///< [count]
  std::uint64_t* shifts;  ///< [count + 1] how far entries before an edit move, modulo 2^64; and at the end
};

/// The changes of a batch in device memory, in order of (source, target).
struct ChangeView {
  const EdgeChange* changes = nullptr;  ///< [count]
  std::uint64_t count = 0;
  const std::uint64_t* first_weights = nullptr;  ///< [count] index of a change's first weight
  const float* weights = nullptr;                ///< of inserted entries
};

/// How far lists can be rewritten while more edits are to come: the first `edits` are known, and the next one
/// is in list `row`, at `position` in the new columns.
struct RewriteLimit {
  std::uint64_t edits, position, row;

  static RewriteLimit all(std::uint64_t edits) { return {edits, ~std::uint64_t{0}, ~std::uint64_t{0}}; }
};

/// Edits before a tile.
struct alignas(16) TileCut {
  std::uint64_t edits;
  std::uint64_t shift;  ///< of entries after them
};

/// Lists of one direction. Columns have capacity for more than they hold.
struct DeviceRows {
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  std::uint64_t vertices = 0, edges = 0;

  CsrView view() const { return {vertices, edges, offsets.data(), targets.data(), weights.data()}; }
  std::uint64_t bytes() const { return offsets.bytes() + targets.bytes() + weights.bytes(); }
  /// Allocates memory for so many vertices and edges, and somewhat more, so that a growing graph seldom
  /// allocates: on a GPU that takes longer than to rewrite the lists. The contents are lost.
  void reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges, bool weighted);
};

/// Allocates memory for `size` entries of a batch, and for later batches of about this size.
template <class T, class Memory>
void reserve_for_batch(ChargedArray<T, Memory>& memory, const Device& device, std::uint64_t size,
                       const char* purpose) {
  constexpr std::uint64_t kMinSize = 4096;
  if (memory.size() >= size) return;
  memory.reserve(device, size + size / 8 < kMinSize ? kMinSize : size + size / 8, purpose);
}

/// Rewrites lists. The new columns are cut into tiles of equally many entries, or offsets. A block marks the
/// places of edits in its tile in words of bits; by these every entry finds the edit that decides its source.
/// Lists may be rewritten in steps: cut() sets how far, and rewrite() does the work.
class ListRewriter {
 public:
  explicit ListRewriter(const Device& device) : device_(device) {}

  /// Allocates memory for `count` edits, which lead from the lists `old` to `to`.
  void begin(std::uint64_t count, const CsrView& old, const DeviceRows& to);
  /// Where a caller that knows the edits writes them.
  EditBuffers buffers() const { return {edits_.data(), shifts_.data()}; }
  /// Otherwise finds the edits in the old in-lists; `order` has the changes by (target, source).
  void find_edits(const ChangeView& changes, const std::uint32_t* order, cudaStream_t stream);
  /// Finds how many edits precede each tile, up to where lists can be rewritten.
  void cut(const RewriteLimit& limit, cudaStream_t stream);
  /// Rewrites the tiles cut since the last call. `reversed`: in-lists. `repeats`: a change may insert more
  /// than one entry. If `max_degree` is not null, *max_degree is raised to the length of the longest list.
  void rewrite(DeviceRows& to, const ChangeView& changes, bool reversed, bool repeats, bool weighted,
               unsigned long long* max_degree, const cuda::Stream& stream);

 private:
  struct Tiles {
    std::uint64_t entries = 0, rows = 0;
  };

  const Device& device_;
  CsrView old_;
  std::uint64_t count_ = 0;  ///< edits
  std::uint64_t known_ = 0;  ///< of these, those known so far
  const std::uint32_t* order_ = nullptr;
  Tiles all_, cut_, done_;
  Buffer<ListEdit> edits_;
  Buffer<std::uint64_t> shifts_;
  Buffer<TileCut> by_position_, by_row_;  ///< [tiles + 1] of entries, of offsets
  Buffer<unsigned char> scratch_;
};

}  // namespace sluice::pagerank
