// Uniform walk (DeepWalk; Perozzi et al., KDD'14).
#pragma once

#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct UniformWalk {
  static constexpr BiasClass kBias = BiasClass::uniform;
  static constexpr bool kReadsNoList = true;
};

}  // namespace sluice::walks
