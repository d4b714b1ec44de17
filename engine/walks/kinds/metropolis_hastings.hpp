// Metropolis-Hastings walk (Gjoka et al., INFOCOM'10, section III). From v, a uniformly drawn neighbour u is
// accepted with probability min(1, d(v)/d(u)), and always if d(u) = 0; otherwise the walk stays at v. The
// stationary distribution is uniform.
#pragma once

#include "engine/random/uniform.hpp"
#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct MetropolisHastingsWalk {
  static constexpr BiasClass kBias = BiasClass::uniform;
  static constexpr bool kReadsNoList = true;

  SLUICE_HD Vertex update(const GraphView&, const Walker&, const Edge& edge, EdgeDegrees degree,
                          std::uint64_t random) const {
    const bool accept = degree.target == 0 || uniform_index(random, degree.target) < degree.source;
    return accept ? edge.target : edge.source;
  }
};

}  // namespace sluice::walks
