// Samples that prefer important neighbours. A vertex with n candidates selects sqrt(n) of them: at most
// `width` at the first depth, half as many at each further depth. The bias of an edge is its weight times (1
// + its target's degree); draws are successive. Hubs are recorded, but not expanded.
#pragma once

#include "engine/samples/sample.hpp"

struct ImportanceSample {
  static constexpr sluice::BiasClass kBias = sluice::BiasClass::fixed;  // depends on the edge alone; tabled
  std::uint32_t depths = 2;
  std::uint32_t width = 16;
  std::uint32_t hub_degree = 1000;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return false; }

  /// The biases of a list must sum to less than 2^64, so the weight is reduced to 16 bits (at least 1 if it
  /// is positive).
  SLUICE_HD std::uint64_t edge_bias(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    const std::uint64_t weight = (graph.weight_bias(edge) + 0xffff) >> 16;
    return weight * (std::uint64_t{1} + graph.degree(edge.target));
  }

  SLUICE_HD std::uint64_t neighbor_size(const sluice::GraphView&, const sluice::samples::Expansion& at,
                                        std::uint64_t candidates, const sluice::SampleDraws&) const {
    const std::uint64_t most = at.depth <= 32 ? width >> (at.depth - 1) : 0;
    std::uint64_t size = 0;  // an integer square root, so that host and device agree
    while (size < most && (size + 1) * (size + 1) <= candidates) ++size;
    return size;
  }

  /// Returns the vertex that a selected edge adds to the next depth's frontier; kNoVertex adds none.
  SLUICE_HD sluice::Vertex update(const sluice::GraphView& graph, const sluice::samples::Expansion&,
                                  const sluice::Edge& edge) const {
    return graph.degree(edge.target) > hub_degree ? sluice::kNoVertex : edge.target;
  }
};
