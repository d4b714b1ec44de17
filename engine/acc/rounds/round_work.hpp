// What ranks send each other when a round ends: what it has come to, and entries for each other's vertices, a
// state and a vertex each. A few travel in the message itself, many after it (entry_exchange.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

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

  std::uint64_t longest = 0;  ///< the most entries that follow for any rank

  void join(const RoundWork& part) {
    active += part.active, edges += part.edges;
    next = std::min(next, part.next);
    found += part.found, found_edges += part.found_edges, sent += part.sent;
    longest = std::max(longest, part.longest);
  }
};

/// Entries for one rank, or of one. In a message their vertices are behind their states; such a block is a
/// multiple of 8 bytes, and begins at one.
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
  SLUICE_HD static EntryBlock at(void* memory, std::uint64_t count) {
    State* const states = static_cast<State*>(memory);
    return {states, reinterpret_cast<Vertex*>(states + count)};
  }
};

}  // namespace sluice::acc
