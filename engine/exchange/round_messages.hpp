// The message that ranks send each other when a round of work ends: what it has come to, and a short block
// for the receiver. A round of a long path has next to nothing to say, so all of it goes in one message to
// every rank, which also says how much follows by a Router.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// `Work` is what a round has come to: trivially copyable, of 8-byte members, and `all.join(part)` adds that
/// of another rank.
template <class Work>
class RoundMessages {
 public:
  using Block = std::span<const std::byte>;

  /// Keeps a reference. Blocks have `block_bytes` at most, a multiple of 8.
  RoundMessages(Communicator& ranks, std::size_t block_bytes)
      : ranks_(ranks),
        words_((sizeof(Header) + block_bytes) / sizeof(std::uint64_t)),
        out_(static_cast<std::size_t>(ranks.size()) * words_),
        in_(out_.size()),
        following_(static_cast<std::size_t>(ranks.size())) {}

  /// Hands block r of `send` to rank r, announces the follow[r] values that come after it, and returns what
  /// the round has come to on all ranks. All ranks call it.
  Work operator()(const Work& own_work, std::span<const Block> send, std::span<const std::uint64_t> follow) {
    received_.clear();
    if (ranks_.size() == 1) return own_work;
    for (std::size_t r = 0; r < following_.size(); ++r) {
      const Header header{own_work, send[r].size(), follow[r]};
      std::uint64_t* const message = out_.data() + r * words_;
      std::memcpy(message, &header, sizeof header);
      if (!send[r].empty()) std::memcpy(message + kHeaderWords, send[r].data(), send[r].size());
    }
    ranks_.swap(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)), "a round's end");
    Work all;
    for (std::size_t r = 0; r < following_.size(); ++r) {
      const std::uint64_t* const message = in_.data() + r * words_;
      Header header;
      std::memcpy(static_cast<void*>(&header), message, sizeof header);
      all.join(header.work);
      following_[r] = header.follow;
      if (header.bytes > 0)
        received_.push_back({reinterpret_cast<const std::byte*>(message + kHeaderWords), header.bytes});
    }
    return all;
  }
  /// Blocks that other ranks have sent, until the next call.
  std::span<const Block> received() const { return received_; }
  /// How many values come from each rank after them.
  std::span<const std::uint64_t> following() const { return following_; }

 private:
  struct Header {
    Work work;
    std::uint64_t bytes = 0;  ///< of the block behind it
    std::uint64_t follow = 0;
  };
  static constexpr std::size_t kHeaderWords = sizeof(Header) / sizeof(std::uint64_t);
  static_assert(sizeof(Header) % sizeof(std::uint64_t) == 0);

  Communicator& ranks_;
  std::size_t words_;                    ///< of a message
  std::vector<std::uint64_t> out_, in_;  ///< [ranks][words]
  std::vector<std::uint64_t> following_;
  std::vector<Block> received_;
};

}  // namespace sluice
