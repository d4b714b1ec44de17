// The changes of a batch on their way to a GPU, packed as the host found them, and unpacked there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/changes/csr_update.cuh"
#include "partition/packed_changes.hpp"

namespace sluice::pagerank {

/// Sends a large batch in pieces, so that lists can be rewritten up to where the next piece begins while it
/// travels. Copies run beside the GPU's work where the packed changes are page-locked; few of them are read
/// there, and not copied.
class ChangeUpload {
 public:
  explicit ChangeUpload(const Device& device) : device_(device) {}

  /// Takes memory for a batch, whose weights are wanted where `weighted`. The work of the batch before has
  /// ended; the changes stay where they are until that of this one has.
  void begin(const PackedChanges& changes, bool weighted);
  unsigned pieces() const { return pieces_; }
  /// Begins to send a piece. The first one brings along what all blocks have in common.
  void send(unsigned piece, cudaStream_t stream) const;
  /// Unpacks a piece: changes, and edits of out-lists. The first one sets *cleared to 0.
  void unpack(unsigned piece, const EditBuffers& edits, unsigned long long* cleared,
              cudaStream_t stream) const;
  /// How far lists can be rewritten once pieces up to this one are unpacked.
  RewriteReach reach(unsigned piece) const;

  ChangeView view() const;

 private:
  const Device& device_;
  const PackedChanges* packed_ = nullptr;
  std::uint64_t count_ = 0;
  bool weighted_ = false;
  bool in_place_ = false;  ///< read where the host has them
  unsigned pieces_ = 0;
  std::vector<std::uint64_t> first_blocks_;  ///< [pieces_ + 1]
  Buffer<std::byte> bytes_;
  Buffer<EdgeChange> changes_;
  Buffer<float> weights_;
  Buffer<std::uint64_t> first_weights_;
};

}  // namespace sluice::pagerank
