// Belief propagation in parts: a part has some vertices, and the messages that they send and receive. The
// owner of a vertex computes its messages from its products and from the messages received along the same
// edges; so a part needs no data of other parts' vertices.
#pragma once

#include <cstdint>

#include "engine/acc/beliefs/bp.hpp"
#include "engine/core/search.hpp"

namespace sluice::acc {

/// Trivially copyable; all pointers are to host, or all to device memory. A part has two places for every
/// edge of its lists: the *departure*, among messages that it sends, ordered by the target's part, then as in
/// the lists; and the *arrival*, among messages that it receives, ordered by sender, then by receiver. So
/// blocks of messages move from part to part unchanged.
struct BeliefPart {
  /// Flag in a departure: a self-loop, which sends nothing. Its factor is part of the prior.
  static constexpr std::uint32_t kLoop = 1u << 31;
  static constexpr std::uint64_t kMaxEdges = kLoop;

  /// Priors, products and beliefs are of this part's rows; `incoming` is ordered by arrival.
  BeliefPropagation program;
  std::uint64_t rows = 0;
  const EdgeIndex* offsets = nullptr;         ///< [rows + 1] positions in the whole graph
  const std::uint32_t* arrivals = nullptr;    ///< by position in the whole graph
  const std::uint32_t* departures = nullptr;  ///< by position in the whole graph
  std::int64_t* sent = nullptr;               ///< [edges][states] by departure

  /// As BeliefPropagation::combine.
  template <class Group>
  SLUICE_HD double combine(const Group& group, Vertex row, EdgeIndex begin, EdgeIndex end) const {
    return program.combine(group, row, begin, end,
                           [this](EdgeIndex e) { return std::uint64_t{arrivals[e]}; });
  }

  /// The row whose list holds e.
  SLUICE_HD std::uint64_t row_of(EdgeIndex e) const { return count_below(offsets, rows + 1, e + 1) - 1; }

  /// Computes the next message of a row's vertex along e. Returns false if it has no state left.
  template <unsigned kStates>
  SLUICE_HD bool send(std::uint64_t row, EdgeIndex e) const {
    const std::uint32_t departure = departures[e];
    const unsigned states = kStates != 0 ? kStates : program.states;
    std::int64_t* const target = sent + std::uint64_t{departure & ~kLoop} * states;
    if ((departure & kLoop) != 0) {
      for (unsigned x = 0; x < states; ++x) target[x] = 0;
      return true;
    }
    return program.send<kStates>(program.products + row * states,
                                 program.incoming + std::uint64_t{arrivals[e]} * states, program.weight(e),
                                 target, target);
  }
};

}  // namespace sluice::acc
