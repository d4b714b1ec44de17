// The upload of a batch of changes to a GPU: packed on the host (packed_changes.hpp), unpacked on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/changes/csr_update.cuh"
#include "partition/packed_changes.hpp"

namespace sluice::pagerank {

/// Sends a large batch in pieces: while a piece is copied, lists are rewritten up to where it begins. Copies
/// overlap the GPU's work if the packed changes are page-locked; a few of these are read in place instead.
class ChangeUpload {
 public:
  explicit ChangeUpload(const Device& device) : device_(device) {}

  /// Allocates memory for a batch, with weights if `weighted`. The work of the previous batch must have
  /// ended, and `changes` must stay in place until the work of this one has.
  void begin(const PackedChanges& changes, bool weighted);
  unsigned pieces() const { return pieces_; }
  /// Begins to copy a piece. The first one includes the headers of all blocks, and weights.
  void send(unsigned piece, cudaStream_t stream) const;
  /// Unpacks a piece into changes and edits of out-lists. The first piece also sets *cleared to 0.
  void unpack(unsigned piece, const EditBuffers& edits, unsigned long long* cleared,
              cudaStream_t stream) const;
  /// How far lists can be rewritten once pieces up to this one are unpacked.
  RewriteLimit rewrite_limit(unsigned piece) const;

  ChangeView view() const;

 private:
  const Device& device_;
  const PackedChanges* packed_ = nullptr;
  std::uint64_t count_ = 0;
  bool weighted_ = false;
  bool in_place_ = false;  ///< kernels read them in host memory
  unsigned pieces_ = 0;
  std::vector<std::uint64_t> first_blocks_;  ///< [pieces_ + 1]
  Buffer<std::byte> bytes_;
  Buffer<EdgeChange> changes_;
  Buffer<float> weights_;
  Buffer<std::uint64_t> first_weights_;
};

}  // namespace sluice::pagerank
