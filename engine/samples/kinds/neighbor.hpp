// Neighbour sampling (GraphSAGE; Hamilton, Ying, Leskovec, NIPS'17, algorithm 2): a fixed fanout at each
// depth.
#pragma once

#include "engine/samples/traversal.hpp"

namespace sluice::samples {

struct NeighborSample : NamedBias {
  static constexpr BiasClass kBias = BiasClass::fixed;
  static constexpr std::uint32_t kMaxDepth = 64;
  std::uint32_t depths = 1;
  bool replace = false;
  std::int64_t fanout[kMaxDepth] = {};  ///< -1: all

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return replace; }
  SLUICE_HD std::uint64_t neighbor_size(const GraphView&, const Expansion& at, std::uint64_t,
                                        const SampleDraws&) const {
    return static_cast<std::uint64_t>(fanout[at.depth - 1]);  // -1 is kAllNeighbors
  }
};

}  // namespace sluice::samples
