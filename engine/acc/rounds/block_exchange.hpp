// Blocks of memory that ranks hand each other again and again: where they lie, and where they go, is said
// once. They travel through short buffers, a piece at a time, so that the exchange takes little memory beside
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice::acc {

/// By rank, in the order in which they travel. Both ends must agree on how many bytes those of a rank are;
/// what the own rank has there is left alone.
template <class Byte>
using RankBlocks = std::vector<std::vector<std::span<Byte>>>;

class BlockExchange {
 public:
  /// All ranks make one. Keeps a reference to the ranks, and the blocks. Throws BudgetError, on this rank
  /// alone, where its host memory cannot hold the buffers.
  BlockExchange(Communicator& ranks, RankBlocks<const std::byte> send, RankBlocks<std::byte> receive);

  /// Every rank's blocks become what the others have for it. All ranks call it.
  void operator()(const char* label);

  /// What a rank takes of host memory beside the blocks, at most.
  static std::uint64_t buffer_bytes(std::uint64_t ranks);

 private:
  Communicator& ranks_;
  RankBlocks<const std::byte> send_;
  RankBlocks<std::byte> receive_;
  std::uint64_t pieces_ = 0;  ///< of the longest
  HostArray<std::byte> out_;
  Inbox in_;
};

}  // namespace sluice::acc
