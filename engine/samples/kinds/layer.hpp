// Layer sampling (FastGCN; Chen, Ma, Xiao, ICLR'18; C-SAW table I): at each depth, K distinct edges from the
// union of all lists of the instance's frontier.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/select/bias.hpp"

namespace sluice::samples {

struct LayerSample : NamedBias {
  static constexpr std::uint32_t kMaxDepth = 64;
  std::uint32_t depths = 1;
  std::uint64_t sizes[kMaxDepth] = {};  ///< K of each depth

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t depth) const { return sizes[depth - 1]; }
};

}  // namespace sluice::samples
