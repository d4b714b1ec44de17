// Lists in memory of a GPU, and the one pass that makes the changed lists from the old ones.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

/// One pair whose entries change, as the lists of one direction see it. Edits are in order of row and column.
struct alignas(16) ListEdit {
  EdgeIndex begin;  ///< in the old lists
  Vertex row;
  std::uint32_t inserted;  ///< entries
};

/// Edits of some lists, and where they come to lie.
struct EditBuffers {
  ListEdit* edits;  ///< [count]
  std::uint64_t*
      shifts;  ///< [count + 1] by how much entries before an edit move, modulo 2^64; and at the end
};

/// The changes of a batch in device memory, by (source, target).
struct ChangeView {
  const EdgeChange* changes = nullptr;  ///< [count]
  std::uint64_t count = 0;
  const std::uint64_t* first_weights = nullptr;  ///< [count] of a change, among `weights`
  const float* weights = nullptr;                ///< of inserted entries
};

/// How far lists can be rewritten while edits are still to come: `edits` are known, and the next one is in
/// list `row` and comes to lie at `place`.
struct RewriteReach {
  std::uint64_t edits, place, row;

  static RewriteReach all(std::uint64_t edits) { return {edits, ~std::uint64_t{0}, ~std::uint64_t{0}}; }
};

/// Edits before a tile.
struct alignas(16) TileCut {
  std::uint64_t edits;
  std::uint64_t shift;  ///< of entries behind them
};

/// Lists of one direction. Columns have capacity beyond what they hold.
struct DeviceRows {
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  std::uint64_t vertices = 0, edges = 0;

  CsrView view() const { return {vertices, edges, offsets.data(), targets.data(), weights.data()}; }
  std::uint64_t bytes() const { return offsets.bytes() + targets.bytes() + weights.bytes(); }
  /// Takes memory for so many vertices and edges, and somewhat more, so that a graph that grows seldom asks
  /// for new memory, which takes a GPU longer to get than to rewrite the lists. What was there is lost.
  void reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges, bool weighted);
};

/// Takes memory for so many entries of a batch that the next batches of about this size fit.
template <class T, class Memory>
void reserve_for_batch(ChargedArray<T, Memory>& memory, const Device& device, std::uint64_t size,
                       const char* purpose) {
  constexpr std::uint64_t kLeast = 4096;
  if (memory.size() >= size) return;
  memory.reserve(device, size + size / 8 < kLeast ? kLeast : size + size / 8, purpose);
}

/// Rewrites lists. The new ones are cut into tiles of equally many entries, or offsets; a block takes a tile,
/// puts down where edits are in it, and then every entry finds the edit that decides where it comes from in a
/// word of bits. Lists may be rewritten step by step: cut() says how far, rewrite() goes there.
class ListRewriter {
 public:
  explicit ListRewriter(const Device& device) : device_(device) {}

  /// Takes memory for `count` edits, which lead from `old` to `to`.
  void begin(std::uint64_t count, const CsrView& old, const DeviceRows& to);
  /// For edits that are known.
  EditBuffers buffers() const { return {edits_.data(), shifts_.data()}; }
  /// Else: looks up the changes of targets in the old lists; `order` is theirs by (target, source).
  void find(const ChangeView& changes, const std::uint32_t* order, cudaStream_t stream);
  /// Which edits the tiles begin with, up to where lists can be rewritten.
  void cut(const RewriteReach& reach, cudaStream_t stream);
  /// Rewrites what has been cut since. `reversed`: lists of targets. `repeats`: a change may insert more than
  /// one entry. Where `longest` is not null, *longest becomes the length of the longest list if that is more.
  void rewrite(DeviceRows& to, const ChangeView& changes, bool reversed, bool repeats, bool weighted,
               unsigned long long* longest, const cuda::Stream& stream);

 private:
  struct Tiles {
    std::uint64_t entries = 0, rows = 0;
  };

  const Device& device_;
  CsrView old_;
  std::uint64_t count_ = 0;  ///< of edits
  std::uint64_t known_ = 0;  ///< of these
  const std::uint32_t* order_ = nullptr;
  Tiles all_, cut_, done_;
  Buffer<ListEdit> edits_;
  Buffer<std::uint64_t> shifts_;
  Buffer<TileCut> by_place_, by_row_;  ///< [tiles + 1] of entries, of offsets
  Buffer<unsigned char> scratch_;
};

}  // namespace sluice::pagerank
