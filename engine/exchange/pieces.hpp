// How long messages travel through short buffers: a piece to and from every rank at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

/// By rank, in the order in which they travel. Both ends must agree on how many bytes those of a rank are.
template <class Byte>
using RankBlocks = std::vector<std::vector<std::span<Byte>>>;

/// Where a piece of all ranks lies on its way, in each direction; null: a rank's one block travels from
/// its place to its place.
struct PieceBuffers {
  std::byte* leaving = nullptr;
  std::byte* arriving = nullptr;
  const Device* device = nullptr;  ///< whose memory blocks are in; null: the host's
};

/// Block by block what `send` has for rank r becomes what `receive` of rank r has for this one. At most
/// `piece` bytes a rank travel at once, until `longest` have, of all ranks' blocks. All ranks call it, with
/// the same two.
void exchange_in_pieces(Communicator& ranks, const RankBlocks<const std::byte>& send,
                        const RankBlocks<std::byte>& receive, std::uint64_t longest, std::uint64_t piece,
                        const PieceBuffers& buffers, const char* label);

/// Blocks of host memory that ranks hand each other again and again. What the own rank has there is left
/// alone.
class BlockExchange {
 public:
  /// All ranks make one; a plan takes the memory alone. Keeps a reference to the ranks, and the blocks.
  /// Throws BudgetError, on this rank alone, where its host memory cannot hold the buffers.
  BlockExchange(Communicator& ranks, RankBlocks<const std::byte> send, RankBlocks<std::byte> receive);

  /// Every rank's blocks become what the others have for it. All ranks call it.
  void operator()(const char* label);

 private:
  Communicator& ranks_;
  RankBlocks<const std::byte> send_;
  RankBlocks<std::byte> receive_;
  std::uint64_t longest_ = 0;  ///< of all ranks' blocks
  HostArray<std::byte> leaving_, arriving_;
};

}  // namespace sluice
