// Core numbers by peeling (Matula and Beck, 1983). A state is the number of remaining neighbours. Level k
// removes the vertices that have k remaining neighbours, which subtracts one from each of their neighbours. A
// state never falls below the current level (SIMD-X's early stop), so a vertex's final state is its core
// number. Lists must hold each neighbour once, and no self-loops.
#pragma once

#include "engine/acc/program.hpp"

namespace sluice::acc {

struct CoreNumbers {
  using State = std::uint32_t;
  static constexpr Combine kCombine = Combine::aggregation;
  static constexpr bool kRepeats = false;
  static constexpr bool kFalls = true, kAdds = true, kReadsState = false;

  State min_core = 0;                      ///< smaller core numbers count as this level
  std::uint64_t max_level = kNoLevel - 1;  ///< levels above it are not processed

  SLUICE_HD State init(Vertex, std::uint64_t degree) const {
    return degree < min_core ? min_core : static_cast<State>(degree);
  }
  SLUICE_HD State compute(const AccEdge<State>&) const { return 1; }
  SLUICE_HD State combine(State into, State value, AccRound at) const {
    if (into <= at.level) return into;
    const auto core = static_cast<State>(at.level);
    return value < into - core ? into - value : core;
  }
  SLUICE_HD State add(State a, State b) const { return a + b; }
  SLUICE_HD bool active(State now, State, AccRound at) const { return now == at.level; }
  SLUICE_HD std::uint64_t level(State state) const { return state; }
  SLUICE_HD std::uint64_t last_level() const { return max_level; }
};

}  // namespace sluice::acc
