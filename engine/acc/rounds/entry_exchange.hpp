// Entries between ranks: where a rank packs those for other ranks' vertices, and where those that have come
// lie. Few travel in the message that ends a round; many follow it by a Router, in pieces, so that what they
// take is bounded however many there are.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// Values on their way, in the executor's memory. On the host they are in its own budget, not in what bounds
/// tables.
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

  /// Keeps references. All ranks make one. So many bytes of entries travel at once.
  EntryExchange(const Device& device, const RankPart& rows, std::uint64_t piece_bytes = Router::kPieceBytes)
      : ranks_(static_cast<std::size_t>(rows.ranks().size())),
        in_message_(std::clamp(kMessageBytes / ranks_ / kWord * kWord, kLeastInMessage, kMostInMessage)),
        piece_(piece_of(rows, piece_bytes)),
        messages_(rows.ranks(), in_message_),
        router_(rows.router()),
        blocks_(ranks_),
        follow_(ranks_),
        leaving_(device, ranks_, in_message_, Block::bytes(piece_)),
        arriving_(device, ranks_, in_message_, Block::bytes(piece_)) {}

  /// A round has no entries yet.
  void clear() {
    std::ranges::fill(blocks_, RoundExchange::Block{});
    std::ranges::fill(follow_, 0);
  }
  /// Where a kernel packs `count` entries for rank r, which the host then sends; nothing where they are so
  /// many that they follow.
  std::optional<Block> open(std::size_t r, std::uint64_t count) {
    if (Block::bytes(count) > in_message_) {
      follow_[r] = count;
      return {};
    }
    std::uint64_t* const at = leaving_.in_messages.data() + r * (in_message_ / kWord);
    const std::uint64_t words = Block::bytes(count) / kWord;
    at[words - 1] = 0;  // its end may hold no entry
    blocks_[r] = {reinterpret_cast<const std::byte*>(at), words * kWord};
    return Block::at(at, count);
  }

  /// The round's end. All ranks call it, and what follows, with what it returns.
  RoundWork exchange(RoundWork own) {
    own.longest = *std::ranges::max_element(follow_);
    return messages_(own, blocks_, follow_);
  }
  /// Has anything come?
  bool any_came() const {
    return !messages_.received().empty() ||
           std::ranges::any_of(messages_.following(), [](std::uint64_t count) { return count > 0; });
  }
  /// Calls take(block, count) for what came in messages, and for what follows, where pack(rank, begin, block,
  /// count) writes entries from `begin` on; both use `stream`.
  template <class Pack, class Take>
  void receive(std::uint64_t longest, void* stream, Pack&& pack, Take&& take) {
    std::uint64_t* to = arriving_.in_messages.data();
    for (const RoundExchange::Block& block : messages_.received()) {
      std::memcpy(to, block.data(), block.size());
      const std::uint64_t count = Block::count(block.size());
      take(Block::at(to, count), count);
      to += in_message_ / kWord;
    }
    for (std::uint64_t done = 0; done < longest; done += piece_) {
      const auto send = piece_from(done, follow_), come = piece_from(done, messages_.following());
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
  /// Of the messages of a rank in a round, and of one: MPI hands over so much without asking the receiver.
  static constexpr std::size_t kMessageBytes = 8192, kLeastInMessage = 192, kMostInMessage = 3840;

  struct Side {
    Side(const Device& device, std::uint64_t ranks, std::uint64_t in_message, std::uint64_t piece_bytes)
        : in_messages(device, ranks > 1 ? ranks * (in_message / kWord) : 0, kPurpose),
          following(device, (ranks - 1) * (piece_bytes / kWord), kPurpose) {}

    static constexpr const char* kPurpose = "entries of other ranks";
    Staging<std::uint64_t> in_messages;  ///< [ranks] blocks
    TravellingValues<std::uint64_t> following;
  };

  /// Entries of a rank that travel at once: the same on all, and of all ranks no more than a rank has
  /// vertices.
  static std::uint64_t piece_of(const RankPart& rows, std::uint64_t bytes) {
    std::uint64_t most = 1;
    for (std::uint64_t r = 0; r < rows.owners().size(); ++r) most = std::max(most, rows.owners().count(r));
    const std::uint64_t ranks = rows.owners().size(),
                        piece = bytes / (sizeof(State) + sizeof(Vertex)) / ranks;
    if (ranks > 1) most = std::max<std::uint64_t>(most / (ranks - 1), 1);
    return std::clamp<std::uint64_t>(piece, 1, most);
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
  /// Blocks lie in order of rank.
  template <class Use>
  static void for_each_block(std::uint64_t* at, const Counts& counts, Use&& use) {
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (counts[r] > 0) use(r, Block::at(at, counts[r]));
      at += Block::bytes(counts[r]) / kWord;
    }
  }

  std::size_t ranks_, in_message_;  ///< bytes of entries that travel in a message
  std::uint64_t piece_;
  RoundExchange messages_;
  const Router& router_;
  std::vector<RoundExchange::Block> blocks_;  ///< by rank, in messages
  Counts follow_;                             ///< entries for each rank
  Side leaving_, arriving_;
};

}  // namespace sluice::acc
