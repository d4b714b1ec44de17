// Random walk with jump (Ribeiro and Towsley, IMC'10): with probability P, or from a dead end, the walk jumps
// to a uniformly drawn vertex.
#pragma once

#include "engine/random/uniform.hpp"
#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct JumpWalk {
  static constexpr BiasClass kBias = BiasClass::uniform;
  static constexpr bool kReadsNoList = true;
  Probability probability;

  SLUICE_HD Vertex redirect(const GraphView& graph, const Walker&, const PhiloxBlock& random,
                            bool dead_end) const {
    if (!dead_end && !probability.happens(random.high())) return kNoVertex;
    return static_cast<Vertex>(uniform_index(random.low(), graph.vertices()));
  }
};

}  // namespace sluice::walks
