// Lists in memory of a GPU, and the one pass that makes the changed lists from the old ones.
#pragma once

#include <cstdint>

#include "engine/exec/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::cuda {

/// One pair whose entries change, as the lists of one direction see it. Edits are in order of row and column.
struct alignas(16) ListEdit {
  EdgeIndex begin;  ///< in the old lists
  Vertex row;
  std::uint32_t inserted;  ///< entries
};

/// The changes of a batch in device memory, by (source, target).
struct ChangeView {
  const std::uint64_t* pairs =
      nullptr;  ///< [count] source << 32 | target; null where `changes` hold them all
  const std::uint32_t* kinds = nullptr;  ///< with pairs: 2 bits a change, 1: all copies go, 2: one comes
  EdgeChange* changes = nullptr;         ///< [count]
  std::uint64_t count = 0;
  const std::uint64_t* first_weights = nullptr;  ///< [count] of a change, among `weights`
  const float* weights = nullptr;                ///< of inserted entries
};

/// Lists of one direction. Columns have room beyond what they hold.
struct DeviceRows {
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  std::uint64_t vertices = 0, edges = 0;

  CsrView view() const { return {vertices, edges, offsets.data(), targets.data(), weights.data()}; }
  /// Room for so many vertices and edges, and somewhat more, so that a graph that grows seldom asks for new
  /// memory, which takes a GPU longer to get than to rewrite the lists. What was there is lost.
  void reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges, bool weighted);
};

/// Room for so many entries of a batch that the next batches of about this size find it.
template <class T, class Memory>
void reserve_for_batch(ChargedArray<T, Memory>& memory, const Device& device, std::uint64_t size,
                       const char* purpose) {
  constexpr std::uint64_t kLeast = 4096;
  if (memory.size() >= size) return;
  memory.reserve(device, size + size / 8 < kLeast ? kLeast : size + size / 8, purpose);
}

/// Rewrites lists. The new ones are cut into tiles of equally many entries; a block takes a tile, puts down
/// where edits are in it, and then every entry finds the edit that decides where it comes from in a word of
/// bits.
class ListRewriter {
 public:
  explicit ListRewriter(const Device& device) : device_(device) {}

  /// Looks up the changes in the old lists: those of sources where `order` is null, which makes `changes` of
  /// pairs too; else those of targets, with the changes in that order. Where `came` is not null, how many
  /// entries each change inserts is left in came[0 .. count).
  void find(const CsrView& old, const ChangeView& changes, const std::uint32_t* order, std::uint64_t* came,
            cudaStream_t stream);
  /// Makes `to`, of so many vertices and edges, from `old` by the edits found in it.
  void rewrite_offsets(const CsrView& old, DeviceRows& to, const Stream& stream);
  /// `reversed`: lists of targets. `repeats`: a change may insert more than one entry.
  void rewrite_edges(const CsrView& old, DeviceRows& to, const ChangeView& changes, bool reversed,
                     bool repeats, bool weighted, const Stream& stream);

 private:
  /// Which edits the tiles of `to` begin with.
  void cut(const DeviceRows& to, const Stream& stream);

  const Device& device_;
  std::uint64_t count_ = 0;  ///< of edits
  const std::uint32_t* order_ = nullptr;
  Buffer<ListEdit> edits_;
  Buffer<std::uint64_t> shifts_;  ///< by how much entries before an edit move, modulo 2^64, and at the end
  Buffer<std::uint64_t> by_place_, by_row_;  ///< [tiles + 1] edits before a tile of entries, or of offsets
  Buffer<unsigned char> scratch_;
};

}  // namespace sluice::cuda
