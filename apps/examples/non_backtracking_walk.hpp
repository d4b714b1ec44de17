// Non-backtracking walk (Alon, Benjamini, Lubetzky, Sodin, 2007): each step is uniform over the neighbours
// other than the previous vertex. A walk ends if there is none.
#pragma once

#include "engine/walks/walk.hpp"

struct NonBacktrackingWalk {
  static constexpr sluice::BiasClass kBias = sluice::BiasClass::dynamic;  // depends on the previous vertex

  SLUICE_HD std::uint64_t dynamic_bias(const sluice::GraphView&, const sluice::walks::Walker& walker,
                                       const sluice::Edge& edge) const {
    return edge.target == walker.previous ? 0 : 1;
  }
  SLUICE_HD std::uint64_t bias_bound() const { return 1; }  // with a bound, the engine draws by rejection
};
