// The round message, which ranks send each other when a round ends: what it has come to, and entries for each
// other's vertices, a state and a vertex each. A round of a long path has next to nothing to say, so all of
// it goes in one short message to every rank; entries that do not fit go after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice::acc {

/// What a round has come to, on one rank or on all.
struct RoundWork {
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  std::uint64_t active = 0;       ///< vertices that were worked on
  std::uint64_t edges = 0;        ///< looked at
  std::uint64_t next = kNothing;  ///< what is to be done next, the lowest of all ranks
  // Of a vote, what is known of the next round when this one's message is written:
  std::uint64_t found = 0;        ///< own vertices that are active then
  std::uint64_t found_edges = 0;  ///< their out-edges
  std::uint64_t sent = 0;         ///< entries for other ranks' vertices, which may become active, too
};

/// Entries for one rank: their states, and behind them their vertices. A block is a multiple of 8 bytes, and
/// begins at one.
template <class State>
struct EntryBlock {
  State* states;
  Vertex* vertices;

  SLUICE_HD static std::uint64_t bytes(std::uint64_t count) {
    return (count * (sizeof(State) + sizeof(Vertex)) + 7) / 8 * 8;
  }
  SLUICE_HD static std::uint64_t count(std::uint64_t bytes) {
    return bytes / (sizeof(State) + sizeof(Vertex));
  }
  SLUICE_HD static EntryBlock at(void* memory, std::uint64_t count) {
    State* const states = static_cast<State*>(memory);
    return {states, reinterpret_cast<Vertex*>(states + count)};
  }
};

class RoundExchange {
 public:
  using Block = std::span<const std::byte>;

  /// Keeps a reference.
  explicit RoundExchange(Communicator& ranks);

  /// Hands block r of `send` to rank r, and returns what the round has come to on all ranks: sums, and the
  /// lowest `next`. All ranks call it.
  RoundWork operator()(const RoundWork& own_work, std::span<const Block> send);
  /// What other ranks have sent, until the next call.
  std::span<const Block> received() const { return received_; }

 private:
  struct alignas(8) RoundMessage {
    RoundWork work;
    std::uint64_t bytes = 0;    ///< of the block in it
    std::uint64_t goes_on = 0;  ///< has this rank a block, for any rank, that does not fit a message?
    std::array<std::byte, 192> block;
  };

  Communicator& ranks_;
  std::vector<RoundMessage> out_, in_;  ///< [ranks]
  std::vector<Block> long_ones_, received_;
  Inbox long_received_;
};

}  // namespace sluice::acc
