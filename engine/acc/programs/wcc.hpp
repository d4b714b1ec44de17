// Weakly connected components. When an edge joins two trees, the smaller root stays, so the final state of a
// vertex is the smallest vertex of its component.
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
