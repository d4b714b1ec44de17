// Biased walk: draws the next vertex with probability proportional to the edge's weight or to the target's
// degree (C-SAW table I).
#pragma once

#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct BiasedWalk : NamedBias {
  static constexpr BiasClass kBias = BiasClass::fixed;
  static constexpr bool kReadsNoList = true;
};

}  // namespace sluice::walks
