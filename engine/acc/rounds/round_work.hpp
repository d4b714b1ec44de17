// Round messages, which ranks exchange at the end of a round: the round's counts, and entries (a state and a
// vertex each) for the receiver's vertices. A few entries travel inside the message, many after it
// (entry_exchange.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::acc {

/// Counts of a round, on one rank or on all.
struct RoundWork {
  static constexpr std::uint64_t kNoBin = ~std::uint64_t{0};

  std::uint64_t active = 0;     ///< vertices that were processed
  std::uint64_t edges = 0;      ///< edges read
  std::uint64_t next = kNoBin;  ///< next bin to process; the lowest of all ranks
  // For a vote's next round, when the message is written:
  std::uint64_t found = 0;        ///< own vertices that are active
  std::uint64_t found_edges = 0;  ///< their out-edges
  std::uint64_t sent = 0;         ///< entries for other ranks' vertices, which may become active

  std::uint64_t max_overflow = 0;  ///< the most entries that follow for one rank

  void add(const RoundWork& part) {
    active += part.active, edges += part.edges;
    next = std::min(next, part.next);
    found += part.found, found_edges += part.found_edges, sent += part.sent;
    max_overflow = std::max(max_overflow, part.max_overflow);
  }
};

/// Entries to or from one rank. In a message, vertices follow states; a block is 8-byte aligned, also in
/// size.
template <class State>
struct EntryBlock {
  State* states = nullptr;
  Vertex* vertices = nullptr;

  SLUICE_HD static std::uint64_t bytes(std::uint64_t count) {
    return (count * (sizeof(State) + sizeof(Vertex)) + 7) / 8 * 8;
  }
  SLUICE_HD static std::uint64_t count(std::uint64_t bytes) {
    return bytes / (sizeof(State) + sizeof(Vertex));
  }
  SLUICE_HD static EntryBlock from_memory(void* memory, std::uint64_t count) {
    State* const states = static_cast<State*>(memory);
    return {states, reinterpret_cast<Vertex*>(states + count)};
  }
};

}  // namespace sluice::acc
