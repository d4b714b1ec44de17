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
class TransferBuffer {
 public:
  TransferBuffer(const Device& device, std::uint64_t size, const char* purpose)
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
  EntryExchange(const Device& device, const RankPart& part, std::uint64_t piece_bytes = Router::kPieceBytes)
      : ranks_(static_cast<std::size_t>(part.ranks().size())),
        capacity_(std::clamp(kMessageBytes / ranks_ / kWordBytes * kWordBytes, kMinCapacity, kMaxCapacity)),
        piece_(piece_size(part, piece_bytes)),
        router_(part.router()),
        out_(ranks_ * words()),
        in_(ranks_ * words()),
        bytes_(ranks_),
        overflow_sent_(ranks_),
        overflow_received_(ranks_),
        outgoing_(device, ranks_, capacity_, Block::bytes(piece_)),
        incoming_(device, ranks_, capacity_, Block::bytes(piece_)) {}

  /// Begins a round without entries.
  void clear() {
    std::ranges::fill(bytes_, 0);
    std::ranges::fill(overflow_sent_, 0);
  }
  /// Returns where a kernel packs `count` entries for rank r, to be sent in the message; nothing if they are
  /// too many for it, and follow.
  std::optional<Block> reserve(std::size_t r, std::uint64_t count) {
    if (Block::bytes(count) > capacity_) {
      overflow_sent_[r] = count;
      return {};
    }
    std::uint64_t* const block_memory = outgoing_block(r);
    bytes_[r] = Block::bytes(count);
    block_memory[bytes_[r] / kWordBytes - 1] = 0;  // padding at the end
    return Block::from_memory(block_memory, count);
  }

  /// Ends the round: returns the work of all ranks. All ranks call it, and then receive() with its result.
  RoundWork exchange(RoundWork local) {
    local.max_overflow = *std::ranges::max_element(overflow_sent_);
    if (ranks_ == 1) return local;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const Header header{local, bytes_[r], overflow_sent_[r]};
      std::uint64_t* const message = out_.data() + r * words();
      std::memcpy(message, &header, sizeof header);
      std::memcpy(message + kHeaderWords, outgoing_block(r), bytes_[r]);
    }
    router_.ranks().all_to_all(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)),
                               "a round's end");
    RoundWork total;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const Header header = header_from(r);
      total.add(header.work);
      overflow_received_[r] = header.overflow;
    }
    return total;
  }
  /// Has any entry arrived, or is any to follow?
  bool any_received() const {
    for (std::size_t r = 0; r < ranks_; ++r)
      if (header_from(r).bytes > 0 || overflow_received_[r] > 0) return true;
    return false;
  }
  /// Calls consume(block, count) for entries that came in messages, and for those that follow. For these,
  /// pack(rank, begin, block, count) writes this rank's entries from `begin` on. Both use `stream`.
  template <class Pack, class Consume>
  void receive(std::uint64_t max_overflow, void* stream, Pack&& pack, Consume&& consume) {
    std::uint64_t* block_memory = incoming_.blocks.data();
    for (std::size_t r = 0; r < ranks_; ++r) {
      const std::uint64_t bytes = header_from(r).bytes, count = Block::count(bytes);
      if (bytes == 0) continue;
      std::memcpy(block_memory, in_.data() + r * words() + kHeaderWords, bytes);
      consume(Block::from_memory(block_memory, count), count);
      block_memory += capacity_ / kWordBytes;
    }
    for (std::uint64_t done = 0; done < max_overflow; done += piece_) {
      const auto send_counts = piece_counts(done, overflow_sent_),
                 receive_counts = piece_counts(done, overflow_received_);
      for_each_block(outgoing_.overflow.data(), send_counts,
                     [&](std::size_t r, const Block& block) { pack(r, done, block, send_counts[r]); });
      const RoutedColumn column{outgoing_.overflow.data(), incoming_.overflow.data(), 1};
      router_.send({&column, 1}, bytes_of(send_counts), bytes_of(receive_counts), stream,
                   "what active vertices send");
      for_each_block(incoming_.overflow.data(), receive_counts,
                     [&](std::size_t r, const Block& block) { consume(block, receive_counts[r]); });
    }
  }

 private:
  using Counts = std::vector<std::uint64_t>;  ///< [ranks]
  static constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  /// Bytes of entries in all messages of a rank in a round, and bounds for one message: MPI sends that much
  /// without asking the receiver.
  static constexpr std::size_t kMessageBytes = 8192, kMinCapacity = 192, kMaxCapacity = 3840;

  /// Header of a message, followed by its block of entries.
  struct Header {
    RoundWork work;
    std::uint64_t bytes = 0;  ///< bytes of the block
    std::uint64_t overflow = 0;
  };
  static constexpr std::size_t kHeaderWords = sizeof(Header) / kWordBytes;
  static_assert(sizeof(Header) % kWordBytes == 0);

  struct Buffers {
    Buffers(const Device& device, std::uint64_t ranks, std::uint64_t capacity, std::uint64_t piece_bytes)
        : blocks(device, ranks > 1 ? ranks * (capacity / kWordBytes) : 0, kPurpose),
          overflow(device, (ranks - 1) * (piece_bytes / kWordBytes), kPurpose) {}

    static constexpr const char* kPurpose = "entries of other ranks";
    Staging<std::uint64_t> blocks;  ///< [ranks] blocks
    TransferBuffer<std::uint64_t> overflow;
  };

  /// Entries that a rank sends at once: equal on all ranks, and for all ranks together at most as many as a
  /// rank has vertices.
  static std::uint64_t piece_size(const RankPart& part, std::uint64_t bytes) {
    std::uint64_t max_entries = 1;
    for (std::uint64_t r = 0; r < part.owners().size(); ++r)
      max_entries = std::max(max_entries, part.owners().count(r));
    const std::uint64_t ranks = part.owners().size(),
                        piece = bytes / (sizeof(State) + sizeof(Vertex)) / ranks;
    if (ranks > 1) max_entries = std::max<std::uint64_t>(max_entries / (ranks - 1), 1);
    return std::clamp<std::uint64_t>(piece, 1, max_entries);
  }
  /// Words of a message.
  std::size_t words() const { return kHeaderWords + capacity_ / kWordBytes; }
  std::uint64_t* outgoing_block(std::size_t r) const {
    return outgoing_.blocks.data() + r * (capacity_ / kWordBytes);
  }
  Header header_from(std::size_t r) const {
    Header header;
    std::memcpy(static_cast<void*>(&header), in_.data() + r * words(), sizeof header);
    return header;
  }
  Counts piece_counts(std::uint64_t begin, std::span<const std::uint64_t> counts) const {
    Counts result;
    for (const std::uint64_t count : counts)
      result.push_back(std::min(piece_, count - std::min(begin, count)));
    return result;
  }
  static Counts bytes_of(Counts counts) {
    for (std::uint64_t& count : counts) count = Block::bytes(count);
    return counts;
  }
  /// Blocks are in order of rank.
  template <class Use>
  static void for_each_block(std::uint64_t* block_memory, const Counts& counts, Use&& use) {
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (counts[r] > 0) use(r, Block::from_memory(block_memory, counts[r]));
      block_memory += Block::bytes(counts[r]) / kWordBytes;
    }
  }

  std::size_t ranks_, capacity_;  ///< bytes of entries in a message
  std::uint64_t piece_;
  const Router& router_;
  std::vector<std::uint64_t> out_, in_;       ///< [ranks][words()] messages
  Counts bytes_;                              ///< bytes of the block for each rank
  Counts overflow_sent_, overflow_received_;  ///< entries to and from each rank after the messages
  Buffers outgoing_, incoming_;
};

}  // namespace sluice::acc
