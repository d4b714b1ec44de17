// Exchange of entries between ranks: buffers for entries to and from other ranks. A round of a long path
// sends almost nothing, so one message to every rank has all of it: the round's counts, a few entries, and
// how many more follow. Many entries follow through a Router, in pieces that bound the memory for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// Values being sent, in the executor's memory. On the host they count against its own budget, not against
/// the bound of tables.
template <class T>
class TravellingValues {
 public:
  TravellingValues(const Device& device, std::uint64_t size, const char* purpose)
      : on_gpu_(device, device.is_cuda() ? size : 0, purpose),
        on_host_(device, device.is_cuda() ? 0 : size, purpose) {}
  T* data() const { return on_gpu_.empty() ? on_host_.data() : on_gpu_.data(); }

 private:
  Buffer<T> on_gpu_;
  Staging<T> on_host_;
};

template <class State>
class EntryExchange {
 public:
  using Block = EntryBlock<State>;

  /// Keeps references. All ranks construct it together. `piece_bytes`: bytes of entries sent at once.
  EntryExchange(const Device& device, const RankPart& rows, std::uint64_t piece_bytes = Router::kPieceBytes)
      : ranks_(static_cast<std::size_t>(rows.ranks().size())),
        in_message_(std::clamp(kMessageBytes / ranks_ / kWord * kWord, kLeastInMessage, kMostInMessage)),
        piece_(piece_of(rows, piece_bytes)),
        router_(rows.router()),
        out_(ranks_ * words()),
        in_(ranks_ * words()),
        bytes_(ranks_),
        follow_(ranks_),
        following_(ranks_),
        leaving_(device, ranks_, in_message_, Block::bytes(piece_)),
        arriving_(device, ranks_, in_message_, Block::bytes(piece_)) {}

  /// Begins a round without entries.
  void clear() {
    std::ranges::fill(bytes_, 0);
    std::ranges::fill(follow_, 0);
  }
  /// Returns where a kernel packs `count` entries for rank r, to be sent in the message; nothing if they are
  /// too many for it, and follow.
  std::optional<Block> open(std::size_t r, std::uint64_t count) {
    if (Block::bytes(count) > in_message_) {
      follow_[r] = count;
      return {};
    }
    std::uint64_t* const at = packed_for(r);
    bytes_[r] = Block::bytes(count);
    at[bytes_[r] / kWord - 1] = 0;  // padding at the end
    return Block::at(at, count);
  }

  /// Ends the round: returns the work of all ranks. All ranks call it, and then receive() with its result.
  RoundWork exchange(RoundWork own) {
    own.longest = *std::ranges::max_element(follow_);
    if (ranks_ == 1) return own;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const Header header{own, bytes_[r], follow_[r]};
      std::uint64_t* const message = out_.data() + r * words();
      std::memcpy(message, &header, sizeof header);
      std::memcpy(message + kHeaderWords, packed_for(r), bytes_[r]);
    }
    router_.ranks().all_to_all(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)),
                               "a round's end");
    RoundWork all;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const Header header = header_from(r);
      all.join(header.work);
      following_[r] = header.follow;
    }
    return all;
  }
  /// Has any entry arrived, or is any to follow?
  bool any_came() const {
    for (std::size_t r = 0; r < ranks_; ++r)
      if (header_from(r).bytes > 0 || following_[r] > 0) return true;
    return false;
  }
  /// Calls take(block, count) for entries that came in messages, and for those that follow. For these,
  /// pack(rank, begin, block, count) writes this rank's entries from `begin` on. Both use `stream`.
  template <class Pack, class Take>
  void receive(std::uint64_t longest, void* stream, Pack&& pack, Take&& take) {
    std::uint64_t* to = arriving_.in_messages.data();
    for (std::size_t r = 0; r < ranks_; ++r) {
      const std::uint64_t bytes = header_from(r).bytes, count = Block::count(bytes);
      if (bytes == 0) continue;
      std::memcpy(to, in_.data() + r * words() + kHeaderWords, bytes);
      take(Block::at(to, count), count);
      to += in_message_ / kWord;
    }
    for (std::uint64_t done = 0; done < longest; done += piece_) {
      const auto send = piece_from(done, follow_), come = piece_from(done, following_);
      for_each_block(leaving_.following.data(), send,
                     [&](std::size_t r, const Block& block) { pack(r, done, block, send[r]); });
      const RoutedColumn column{leaving_.following.data(), arriving_.following.data(), 1};
      router_.send({&column, 1}, bytes_of(send), bytes_of(come), stream, "what active vertices send");
      for_each_block(arriving_.following.data(), come,
                     [&](std::size_t r, const Block& block) { take(block, come[r]); });
    }
  }

 private:
  using Counts = std::vector<std::uint64_t>;  ///< [ranks]
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  /// Bytes of entries in all messages of a rank in a round, and bounds for one message: MPI sends that much
  /// without asking the receiver.
  static constexpr std::size_t kMessageBytes = 8192, kLeastInMessage = 192, kMostInMessage = 3840;

  /// Header of a message, followed by its block of entries.
  struct Header {
    RoundWork work;
    std::uint64_t bytes = 0;  ///< bytes of the block
    std::uint64_t follow = 0;
  };
  static constexpr std::size_t kHeaderWords = sizeof(Header) / kWord;
  static_assert(sizeof(Header) % kWord == 0);

  struct Side {
    Side(const Device& device, std::uint64_t ranks, std::uint64_t in_message, std::uint64_t piece_bytes)
        : in_messages(device, ranks > 1 ? ranks * (in_message / kWord) : 0, kPurpose),
          following(device, (ranks - 1) * (piece_bytes / kWord), kPurpose) {}

    static constexpr const char* kPurpose = "entries of other ranks";
    Staging<std::uint64_t> in_messages;  ///< [ranks] blocks
    TravellingValues<std::uint64_t> following;
  };

  /// Entries that a rank sends at once: equal on all ranks, and for all ranks together at most as many as a
  /// rank has vertices.
  static std::uint64_t piece_of(const RankPart& rows, std::uint64_t bytes) {
    std::uint64_t most = 1;
    for (std::uint64_t r = 0; r < rows.owners().size(); ++r) most = std::max(most, rows.owners().count(r));
    const std::uint64_t ranks = rows.owners().size(),
                        piece = bytes / (sizeof(State) + sizeof(Vertex)) / ranks;
    if (ranks > 1) most = std::max<std::uint64_t>(most / (ranks - 1), 1);
    return std::clamp<std::uint64_t>(piece, 1, most);
  }
  /// Words of a message.
  std::size_t words() const { return kHeaderWords + in_message_ / kWord; }
  std::uint64_t* packed_for(std::size_t r) const {
    return leaving_.in_messages.data() + r * (in_message_ / kWord);
  }
  Header header_from(std::size_t r) const {
    Header header;
    std::memcpy(static_cast<void*>(&header), in_.data() + r * words(), sizeof header);
    return header;
  }
  Counts piece_from(std::uint64_t begin, std::span<const std::uint64_t> counts) const {
    Counts some;
    for (const std::uint64_t count : counts) some.push_back(std::min(piece_, count - std::min(begin, count)));
    return some;
  }
  static Counts bytes_of(Counts counts) {
    for (std::uint64_t& count : counts) count = Block::bytes(count);
    return counts;
  }
  /// Blocks are in order of rank.
  template <class Use>
  static void for_each_block(std::uint64_t* at, const Counts& counts, Use&& use) {
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (counts[r] > 0) use(r, Block::at(at, counts[r]));
      at += Block::bytes(counts[r]) / kWord;
    }
  }

  std::size_t ranks_, in_message_;  ///< bytes of entries in a message
  std::uint64_t piece_;
  const Router& router_;
  std::vector<std::uint64_t> out_, in_;  ///< [ranks][words()] messages
  Counts bytes_;                         ///< bytes of the block for each rank
  Counts follow_, following_;            ///< entries to and from each rank after the messages
  Side leaving_, arriving_;
};

}  // namespace sluice::acc
