// Non-backtracking walk (Alon, Benjamini, Lubetzky, Sodin, 2007): uniform over the neighbours other than the
// vertex the walk came from. Where there is no other, the walk ends.
#pragma once

#include "engine/walks/walk.hpp"

struct NonBacktrackingWalk {
  static constexpr sluice::BiasClass kBias = sluice::BiasClass::dynamic;  // it depends on where the walk was

  SLUICE_HD std::uint64_t dynamic_bias(const sluice::GraphView&, const sluice::walks::Walker& walker,
                                       const sluice::Edge& edge) const {
    return edge.target == walker.previous ? 0 : 1;
  }
  SLUICE_HD std::uint64_t bias_bound() const { return 1; }  // known, so the engine draws by rejection
};
