// The changes of a batch on their way to a GPU, in as few bytes as they take.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/exec/buffer.hpp"
#include "engine/exec/crew.hpp"
#include "engine/exec/stream.cuh"
#include "engine/rank/list_rewrite.cuh"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::cuda {

/// Sends from page-locked memory, which a large batch is put into by all threads while what is there travels.
/// A change takes 8 bytes and 2 bits: all copies of an edge go and one comes, or either. In graphs with times
/// several may come, and it takes 16 bytes.
class ChangeUpload {
 public:
  explicit ChangeUpload(const Device& device) : device_(device) {}

  /// Begins to send the changes that led to `graph`, with the weights of what they insert where `weighted`.
  /// What was sent before has arrived. Returns how many edges come, less those that go, modulo 2^64.
  std::uint64_t send(const Graph& graph, std::span<const EdgeChange> changes, bool weighted,
                     const Stream& stream);
  /// The first weight of each change among all, once `came` holds how many entries each inserts.
  void number_weights(const Stream& stream);

  ChangeView view() const;
  /// Whether a change may insert several entries.
  bool repeats() const { return whole_; }
  /// [count + 1] where weights are wanted, else null.
  std::uint64_t* came() const { return weighted_ ? came_.data() : nullptr; }

 private:
  struct Block;

  /// Puts changes [begin, end) into page-locked memory; what they add to the edges is left in `block`.
  void stage(std::span<const EdgeChange> changes, std::uint64_t begin, std::uint64_t end, Block& block);
  void stage_weights(const Csr& out, std::span<const EdgeChange> changes, std::span<const Block> blocks);
  void copy(std::uint64_t begin, std::uint64_t end, const Stream& stream);
  Crew& crew();

  const Device& device_;
  std::unique_ptr<Crew> crew_;  ///< from the first large batch on
  std::uint64_t count_ = 0;
  bool weighted_ = false, whole_ = false;
  Buffer<EdgeChange> changes_;
  Staging<EdgeChange> staged_changes_;  ///< where they go as they are
  Buffer<std::uint64_t> pairs_, came_;  ///< came_: in the end, first weights
  Staging<std::uint64_t> staged_pairs_;
  Buffer<std::uint32_t> kinds_;
  Staging<std::uint32_t> staged_kinds_;
  Buffer<float> weights_;
  Staging<float> staged_weights_;
  Buffer<unsigned char> scratch_;
};

}  // namespace sluice::cuda
