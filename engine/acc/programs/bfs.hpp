// Breadth-first search: a vertex's depth is the first round that reaches it, its parent the smallest
// neighbour that does so. One word holds both, depth above parent, so that a minimum selects both together.
#pragma once

#include "engine/acc/program.hpp"

namespace sluice::acc {

struct BreadthFirst {
  using State = std::uint64_t;
  static constexpr Combine kCombine = Combine::vote;
  static constexpr bool kEarliest = true;
  static constexpr State kUnreached = ~State{0};

  Vertex source = 0;

  SLUICE_HD static State reached(std::uint32_t depth, Vertex parent) { return State{depth} << 32 | parent; }
  SLUICE_HD static std::uint32_t depth(State state) { return static_cast<std::uint32_t>(state >> 32); }
  SLUICE_HD static Vertex parent(State state) { return static_cast<Vertex>(state); }

  SLUICE_HD State init(Vertex v, std::uint64_t) const {
    return v == source ? reached(0, source) : kUnreached;
  }
  SLUICE_HD bool starts(Vertex v) const { return v == source; }
  SLUICE_HD State compute(const AccEdge<State>& edge) const { return reached(edge.at.round, edge.source); }
  SLUICE_HD State combine(State into, State value, AccRound) const { return value < into ? value : into; }
  SLUICE_HD bool active(State, State before, AccRound) const { return before == kUnreached; }
  SLUICE_HD bool settled(State state) const { return state != kUnreached; }
};

}  // namespace sluice::acc
