// Exchange of long messages through short buffers: one piece to and from every rank at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

/// Blocks by rank, in the order in which they are sent. Both ends must agree on the bytes of a rank's blocks.
template <class Byte>
using RankBlocks = std::vector<std::vector<std::span<Byte>>>;

/// Buffers for one piece of all ranks, in each direction. Null: every rank has one block, which is sent and
/// received in place.
struct PieceBuffers {
  std::byte* outgoing = nullptr;
  std::byte* incoming = nullptr;
  const Device* device = nullptr;  ///< the blocks are in its memory; null: in the host's
};

/// Copies the blocks of `send` for rank r to the blocks that rank r's `receive` has for this rank. At most
/// `piece` bytes per rank are sent at once. `longest` is the most bytes that any rank sends to another. All
/// ranks call it, with the same `longest` and `piece`.
void exchange_in_pieces(Communicator& ranks, const RankBlocks<const std::byte>& send,
                        const RankBlocks<std::byte>& receive, std::uint64_t longest, std::uint64_t piece,
                        const PieceBuffers& buffers, const char* label);

/// Blocks of host memory that ranks send each other repeatedly. A rank's blocks for itself are not copied.
class BlockExchange {
 public:
  /// All ranks construct one; a plan only allocates. Keeps a reference to the ranks, and the blocks. Throws
  /// BudgetError, on this rank alone, if its host memory cannot hold the buffers.
  BlockExchange(Communicator& ranks, RankBlocks<const std::byte> send, RankBlocks<std::byte> receive);

  /// Sends all blocks once. All ranks call it.
  void operator()(const char* label);

 private:
  Communicator& ranks_;
  RankBlocks<const std::byte> send_;
  RankBlocks<std::byte> receive_;
  std::uint64_t longest_ = 0;  ///< bytes, from any rank to another
  HostArray<std::byte> outgoing_, incoming_;
};

}  // namespace sluice
