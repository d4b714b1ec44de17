// The message that ranks send each other when a round of work ends: what it has come to, and a block for the
// receiver. A round of a long path has next to nothing to say, so all of it goes in one short message to every
// rank, where a Router would first say how much comes; blocks that do not fit go after it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// `Work` is what a round has come to: trivially copyable, and `all.join(part)` adds that of another rank.
template <class Work>
class RoundMessages {
 public:
  using Block = std::span<const std::byte>;

  /// Keeps a reference.
  explicit RoundMessages(Communicator& ranks)
      : ranks_(ranks),
        out_(static_cast<std::size_t>(ranks.size())),
        in_(out_.size()),
        long_ones_(out_.size()) {
    for (Message& message : out_) message.block.fill(std::byte{0});
  }

  /// Hands block r of `send` to rank r, and returns what the round has come to on all ranks. All ranks call
  /// it.
  Work operator()(const Work& own_work, std::span<const Block> send) {
    received_.clear();
    if (ranks_.size() == 1) return own_work;
    write(own_work, send);
    ranks_.swap(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)), "a round's end");
    Work all;
    bool goes_on = false;
    for (std::size_t r = 0; r < in_.size(); ++r) {
      const Message& message = in_[r];
      all.join(message.work);
      goes_on = goes_on || message.goes_on != 0;
      if (static_cast<int>(r) != ranks_.rank() && message.bytes > 0)
        received_.push_back(Block(message.block).first(message.bytes));
    }
    if (!goes_on) return all;
    ranks_.all_to_all(long_ones_, long_received_, "what active vertices send");
    long_received_.for_each([&](std::size_t, Block block) { received_.push_back(block); });
    return all;
  }
  /// What other ranks have sent, until the next call.
  std::span<const Block> received() const { return received_; }

 private:
  struct alignas(8) Message {
    Work work;
    std::uint64_t bytes = 0;    ///< of the block in it
    std::uint64_t goes_on = 0;  ///< has this rank a block, for any rank, that does not fit a message?
    std::array<std::byte, 192> block;
  };

  void write(const Work& own_work, std::span<const Block> send) {
    bool goes_on = false;
    for (std::size_t r = 0; r < out_.size(); ++r) {
      Message& message = out_[r];
      const bool fits = send[r].size() <= message.block.size();
      message.work = own_work;
      message.bytes = fits ? send[r].size() : 0;
      if (fits) std::copy(send[r].begin(), send[r].end(), message.block.begin());
      long_ones_[r] = fits ? Block{} : send[r];
      goes_on = goes_on || !fits;
    }
    for (Message& message : out_) message.goes_on = goes_on;
  }

  Communicator& ranks_;
  std::vector<Message> out_, in_;  ///< [ranks]
  std::vector<Block> long_ones_, received_;
  Inbox long_received_;
};

}  // namespace sluice
