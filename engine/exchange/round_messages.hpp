// The message that ranks send each other when a round of work ends: what it has come to, and a short block
// for the receiver. A round of a long path has next to nothing to say, so all of it goes in one message to
// every rank, which also says how much follows by a Router.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// `Work` is what a round has come to: trivially copyable, and `all.join(part)` adds that of another rank.
template <class Work>
class RoundMessages {
 public:
  using Block = std::span<const std::byte>;
  static constexpr std::size_t kBlockBytes = 192;

  /// Keeps a reference.
  explicit RoundMessages(Communicator& ranks)
      : ranks_(ranks),
        out_(static_cast<std::size_t>(ranks.size())),
        in_(out_.size()),
        following_(out_.size()) {
    for (Message& message : out_) message.block.fill(std::byte{0});
  }

  /// Hands block r of `send`, of kBlockBytes at most, to rank r, tells it that follow[r] values come after
  /// it, and returns what the round has come to on all ranks. All ranks call it.
  Work operator()(const Work& own_work, std::span<const Block> send, std::span<const std::uint64_t> follow) {
    received_.clear();
    if (ranks_.size() == 1) return own_work;
    for (std::size_t r = 0; r < out_.size(); ++r) {
      Message& message = out_[r];
      message.work = own_work, message.bytes = send[r].size(), message.follow = follow[r];
      if (!send[r].empty()) std::memcpy(message.block.data(), send[r].data(), send[r].size());
    }
    ranks_.swap(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)), "a round's end");
    Work all;
    for (std::size_t r = 0; r < in_.size(); ++r) {
      const Message& message = in_[r];
      all.join(message.work);
      following_[r] = message.follow;
      if (message.bytes > 0) received_.push_back(Block(message.block).first(message.bytes));
    }
    return all;
  }
  /// Blocks that other ranks have sent, until the next call.
  std::span<const Block> received() const { return received_; }
  /// How many values come from each rank after them.
  std::span<const std::uint64_t> following() const { return following_; }

 private:
  struct alignas(8) Message {
    Work work;
    std::uint64_t bytes = 0;  ///< of the block in it
    std::uint64_t follow = 0;
    std::array<std::byte, kBlockBytes> block;
  };

  Communicator& ranks_;
  std::vector<Message> out_, in_;  ///< [ranks]
  std::vector<std::uint64_t> following_;
  std::vector<Block> received_;
};

}  // namespace sluice
