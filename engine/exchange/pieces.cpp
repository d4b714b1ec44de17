#include "engine/exchange/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/exec/memory/buffer.hpp"

namespace sluice {

namespace {

/// Bytes of all pieces in one direction together, and at least of one piece.
constexpr std::uint64_t kBufferBytes = 32u << 20, kMinPieceBytes = 64u << 10;

template <class Byte>
std::uint64_t bytes_of(const std::vector<std::span<Byte>>& blocks) {
  std::uint64_t bytes = 0;
  for (const auto& block : blocks) bytes += block.size();
  return bytes;
}

/// Bytes of a piece to one rank.
std::uint64_t piece_bytes(std::uint64_t ranks) {
  return std::max(kBufferBytes / ranks, kMinPieceBytes);
}

/// The most bytes of the pieces that are sent, or received, at once.
template <class Byte>
std::uint64_t bytes_at_once(const RankBlocks<Byte>& blocks_of_ranks) {
  std::uint64_t all = 0;
  for (const auto& blocks : blocks_of_ranks)
    all += std::min(bytes_of(blocks), piece_bytes(blocks_of_ranks.size()));
  return all;
}

/// Splits the blocks of all ranks into pieces. If `buffer` is null, each piece is of one block, in place.
template <class Byte>
class Pieces {
 public:
  Pieces(const RankBlocks<Byte>& blocks, std::uint64_t piece, std::byte* buffer)
      : blocks_(blocks), cursors_(blocks.size()), spans_(blocks.size()), piece_(piece), buffer_(buffer) {}

  /// The memory of each rank's next piece. If there is a buffer, calls copy(bytes in the buffer, bytes of a
  /// block) for each part of a block in these pieces.
  template <class Copy>
  std::span<const std::span<Byte>> next(Copy&& copy) {
    std::byte* position = buffer_;
    for (std::size_t r = 0; r < blocks_.size(); ++r) {
      std::byte* const begin = position;
      spans_[r] = {};
      for (std::uint64_t left = piece_; left > 0 && cursors_[r].block < blocks_[r].size();) {
        const std::span<Byte> part = next_part(r, left);
        left -= part.size();
        if (buffer_ != nullptr) copy(position, part), position += part.size();
        spans_[r] = buffer_ != nullptr ? std::span<Byte>(begin, position) : part;
      }
    }
    return spans_;
  }

 private:
  struct Cursor {
    std::size_t block = 0, offset = 0;
  };

  /// The next part, of at most `max_bytes` bytes, of a rank's current block.
  std::span<Byte> next_part(std::size_t rank, std::uint64_t max_bytes) {
    Cursor& cursor = cursors_[rank];
    const std::span<Byte> remaining = blocks_[rank][cursor.block].subspan(cursor.offset);
    cursor.offset += std::min<std::uint64_t>(max_bytes, remaining.size());
    if (max_bytes >= remaining.size()) cursor = {cursor.block + 1, 0};
    return remaining.first(std::min<std::uint64_t>(max_bytes, remaining.size()));
  }

  const RankBlocks<Byte>& blocks_;
  std::vector<Cursor> cursors_;
  std::vector<std::span<Byte>> spans_;
  std::uint64_t piece_;
  std::byte* buffer_;
};

}  // namespace

void exchange_in_pieces(Communicator& ranks, const RankBlocks<const std::byte>& send,
                        const RankBlocks<std::byte>& receive, std::uint64_t longest, std::uint64_t piece,
                        const PieceBuffers& buffers, const char* label) {
  Pieces<const std::byte> outgoing(send, piece, buffers.outgoing);
  Pieces<std::byte> incoming(receive, piece, buffers.incoming);
  std::vector<std::pair<const std::byte*, std::span<std::byte>>> copies;  // from the buffer to blocks
  for (std::uint64_t done = 0; done < longest; done += std::min(piece, longest - done)) {
    const auto out = outgoing.next([&](std::byte* to, std::span<const std::byte> part) {
      buffers.device != nullptr ? copy_to_host(*buffers.device, to, part.data(), part.size())
                                : static_cast<void>(std::ranges::copy(part, to));
    });
    copies.clear();
    const auto in = incoming.next(
        [&](const std::byte* from, std::span<std::byte> part) { copies.emplace_back(from, part); });
    ranks.exchange(out, in, label);
    for (const auto& [from, part] : copies)
      buffers.device != nullptr ? copy_to_device(*buffers.device, part.data(), from, part.size())
                                : static_cast<void>(std::copy_n(from, part.size(), part.data()));
  }
}

BlockExchange::BlockExchange(Communicator& ranks, RankBlocks<const std::byte> send,
                             RankBlocks<std::byte> receive)
    : ranks_(ranks), send_(std::move(send)), receive_(std::move(receive)) {
  const auto own_rank = static_cast<std::size_t>(ranks_.rank());
  send_[own_rank].clear(), receive_[own_rank].clear();
  for (const auto& blocks : send_) longest_ = std::max(longest_, bytes_of(blocks));
  if (!host_budget().counts_only())
    ranks_.all_reduce(std::span(&longest_, 1), Reduce::max, "the size of round messages");
  constexpr const char* kPurpose = "round messages";
  outgoing_ = HostArray<std::byte>(bytes_at_once(send_), kPurpose);
  incoming_ = HostArray<std::byte>(bytes_at_once(receive_), kPurpose);
}

void BlockExchange::operator()(const char* label) {
  exchange_in_pieces(ranks_, send_, receive_, longest_, piece_bytes(send_.size()),
                     {outgoing_.data(), incoming_.data()}, label);
}

}  // namespace sluice
