// Random walk with restart (Tong et al., ICDM'06): returns to its start with probability P, or from a dead
// end.
#pragma once

#include "engine/random/uniform.hpp"
#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct RestartWalk {
  static constexpr BiasClass kBias = BiasClass::uniform;
  static constexpr bool kReadsNoList = true;
  Probability probability;

  SLUICE_HD Vertex redirect(const GraphView&, const Walker& walker, const PhiloxBlock& random,
                            bool dead_end) const {
    return dead_end || probability.happens(random.high()) ? walker.start : kNoVertex;
  }
};

}  // namespace sluice::walks
