// Belief propagation in parts: a part of the vertices, and the messages that it sends and receives. A
// vertex's owner works out what it sends, from its own products and from what it has received along the edge;
// so a part needs nothing of other parts' vertices.
#pragma once

#include <cstdint>

#include "engine/acc/beliefs/bp.hpp"
#include "engine/core/search.hpp"

namespace sluice::acc {

/// Trivially copyable; pointers are all to host or all to device memory. A part has a slot for every edge of
/// its lists among what it sends, by part of the target and then in order of the lists (its departure), and
/// one among what it receives, by the vertex that sends and then by the one that receives (its arrival):
/// blocks of messages travel from part to part as they are.
struct BeliefPart {
  /// Beside a departure: a self-loop, which sends nothing. Its factor counts with the prior.
  static constexpr std::uint32_t kLoop = 1u << 31;
  static constexpr std::uint64_t kMostEdges = kLoop;

  /// Priors, products (`after`) and beliefs are those of the rows; `incoming` is by arrival.
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

  /// What the vertex of a row sends along e next. False: it has no state left.
  template <unsigned kStates>
  SLUICE_HD bool send(std::uint64_t row, EdgeIndex e) const {
    const std::uint32_t departure = departures[e];
    const unsigned states = kStates != 0 ? kStates : program.states;
    std::int64_t* const to = sent + std::uint64_t{departure & ~kLoop} * states;
    if ((departure & kLoop) != 0) {
      for (unsigned x = 0; x < states; ++x) to[x] = 0;
      return true;
    }
    return program.send<kStates>(program.after + row * states,
                                 program.incoming + std::uint64_t{arrivals[e]} * states, program.weight(e),
                                 to, to);
  }
};

}  // namespace sluice::acc
