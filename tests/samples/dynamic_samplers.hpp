// User-defined traversal samplers with dynamic bias, which depends on all that is known when a vertex is
// expanded.
#pragma once

#include "engine/samples/sample.hpp"

namespace sluice::test {

/// Edges back to the previous vertex have bias 0, or 1 with a floor; other edges have biases of 1 to 6.
template <bool kReplace, bool kBound, bool kFloor = false, bool kFixedPart = false>
struct Remembering {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  std::uint32_t depths = 2;
  std::uint64_t fanout = 3;
  std::uint64_t bound = 6;  ///< larger bounds are valid, too, but reject more

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return kReplace; }
  SLUICE_HD std::uint64_t neighbor_size(const GraphView&, const samples::TracedExpansion&, std::uint64_t,
                                        const SampleDraws&) const {
    return fanout;
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView&, const samples::TracedExpansion& at,
                                       const Edge& edge) const {
    if (edge.target == at.previous) return kFloor ? 1 : 0;
    const std::uint64_t from = at.previous == kNoVertex ? 0 : at.previous + 1;
    return 1 + (5 * edge.position + 3 * at.depth + from + at.instance % 2) % 6;
  }
  SLUICE_HD std::uint64_t bias_bound() const requires kBound { return bound; }
  SLUICE_HD std::uint64_t bias_floor() const requires kFloor { return 1; }
  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const requires kFixedPart {
    return graph.degree(edge.target);
  }
};

/// The same, but every third vertex is recorded without being expanded, unless a seed reaches it directly.
struct Picky : Remembering<false, false> {
  SLUICE_HD Vertex update(const GraphView&, const samples::TracedExpansion& at, const Edge& edge) const {
    return at.previous != kNoVertex && edge.target % 3 == 0 ? kNoVertex : edge.target;
  }
};

/// All edges have the same given bias.
template <bool kReplace>
struct Heavy {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  std::uint64_t bias = 1, size = 1;

  SLUICE_HD std::uint32_t depth() const { return 1; }
  SLUICE_HD bool replacement() const { return kReplace; }
  SLUICE_HD std::uint64_t neighbor_size(const GraphView&, const samples::Expansion&, std::uint64_t,
                                        const SampleDraws&) const {
    return size;
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView&, const samples::TracedExpansion&, const Edge&) const {
    return bias;
  }
};

}  // namespace sluice::test
