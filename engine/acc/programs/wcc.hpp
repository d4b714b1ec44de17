// Weakly connected components. Of two trees that an edge joins, the smaller root stays, so that every vertex
// ends with the smallest of its component.
#pragma once

#include "engine/acc/program.hpp"

namespace sluice::acc {

struct Components {
  using State = Vertex;
  static constexpr Combine kCombine = Combine::merge;

  SLUICE_HD bool compute(const AccEdge<State>&) const { return true; }
  SLUICE_HD State combine(State a, State b) const { return a < b ? a : b; }
  SLUICE_HD bool active(State root, State largest) const { return root != largest; }
};

}  // namespace sluice::acc
