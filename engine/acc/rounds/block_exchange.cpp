#include "engine/acc/rounds/block_exchange.hpp"

#include <algorithm>
#include <utility>

namespace sluice::acc {

namespace {

/// In all buffers of one kind together.
constexpr std::uint64_t kBufferBytes = 32u << 20, kLeastPiece = 64u << 10;

template <class Byte>
std::uint64_t bytes_of(const std::vector<std::span<Byte>>& blocks) {
  std::uint64_t bytes = 0;
  for (const auto& block : blocks) bytes += block.size();
  return bytes;
}

/// To one rank.
std::uint64_t piece_bytes(std::uint64_t ranks) {
  return std::max(kBufferBytes / ranks, kLeastPiece);
}

/// Of the pieces that travel at once, to or from all ranks, the most.
template <class Byte>
std::uint64_t bytes_at_once(const RankBlocks<Byte>& blocks_of_ranks) {
  std::uint64_t all = 0;
  for (const auto& blocks : blocks_of_ranks)
    all += std::min(bytes_of(blocks), piece_bytes(blocks_of_ranks.size()));
  return all;
}

/// Goes along a list of blocks.
template <class Byte>
class Place {
 public:
  explicit Place(const std::vector<std::span<Byte>>& blocks) : blocks_(blocks) {}

  /// Calls use(part) for what is next, until `bytes` have been gone through, or all.
  template <class Use>
  void take(std::uint64_t bytes, Use&& use) {
    while (bytes > 0 && block_ < blocks_.size()) {
      const auto part = blocks_[block_].subspan(at_).first(std::min(bytes, blocks_[block_].size() - at_));
      use(part);
      bytes -= part.size(), at_ += part.size();
      if (at_ == blocks_[block_].size()) ++block_, at_ = 0;
    }
  }

 private:
  const std::vector<std::span<Byte>>& blocks_;
  std::size_t block_ = 0, at_ = 0;
};

}  // namespace

BlockExchange::BlockExchange(Communicator& ranks, RankBlocks<const std::byte> send,
                             RankBlocks<std::byte> receive)
    : ranks_(ranks), send_(std::move(send)), receive_(std::move(receive)) {
  const auto own = static_cast<std::size_t>(ranks_.rank());
  send_[own].clear(), receive_[own].clear();
  std::uint64_t longest[] = {0};
  for (const auto& blocks : send_) longest[0] = std::max(longest[0], bytes_of(blocks));
  ranks_.all_reduce(longest, Reduce::max, "the size of round messages");
  const std::uint64_t piece = piece_bytes(send_.size());
  pieces_ = (longest[0] + piece - 1) / piece;
  constexpr const char* kPurpose = "round messages";
  out_ = HostArray<std::byte>(bytes_at_once(send_), kPurpose);
  in_.reserve(bytes_at_once(receive_), kPurpose);
}

void BlockExchange::operator()(const char* label) {
  const std::uint64_t piece = piece_bytes(send_.size());
  std::vector<Place<const std::byte>> from;
  std::vector<Place<std::byte>> to;
  for (const auto& blocks : send_) from.emplace_back(blocks);
  for (const auto& blocks : receive_) to.emplace_back(blocks);
  std::vector<std::span<const std::byte>> spans(send_.size());
  for (std::uint64_t i = 0; i < pieces_; ++i) {
    std::byte* out = out_.data();
    for (std::size_t r = 0; r < send_.size(); ++r) {
      std::byte* const begin = out;
      from[r].take(piece, [&](auto part) { out = std::ranges::copy(part, out).out; });
      spans[r] = {begin, out};
    }
    ranks_.all_to_all(spans, in_, label);
    in_.for_each([&](std::size_t r, std::span<const std::byte> in) {
      to[r].take(in.size(), [&](auto part) {
        std::ranges::copy(in.first(part.size()), part.begin());
        in = in.subspan(part.size());
      });
    });
  }
}

std::uint64_t BlockExchange::buffer_bytes(std::uint64_t ranks) {
  return ranks > 1 ? 2 * ranks * piece_bytes(ranks) : 0;
}

}  // namespace sluice::acc
