// Snowball sampling (Goodman 1961): all neighbours, to a depth.
#pragma once

#include "engine/samples/traversal.hpp"

namespace sluice::samples {

struct SnowballSample {
  static constexpr BiasClass kBias = BiasClass::uniform;
  std::uint32_t depths = 2;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return false; }
  SLUICE_HD std::uint64_t neighbor_size(const GraphView&, const Expansion&, std::uint64_t,
                                        const SampleDraws&) const {
    return kAllNeighbors;
  }
};

}  // namespace sluice::samples
