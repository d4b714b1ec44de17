// Layer sampling (FastGCN; Chen, Ma, Xiao, ICLR'18; C-SAW table I): at each depth, K distinct edges from the
// union of all lists of the instance's frontier.
#pragma once

#include "engine/samples/traversal.hpp"

namespace sluice {

struct LayerSample {
  static constexpr std::uint32_t kMaxDepth = 64;
  Bias bias = Bias::none;
  std::uint32_t depths = 1;
  std::uint64_t sizes[kMaxDepth] = {};  ///< K a depth
};

}  // namespace sluice
