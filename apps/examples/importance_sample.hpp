// Samples that follow important neighbours: a vertex selects the square root of its number of candidates, at
// most `width` at the first depth and half as many at each further one, successive draws proportional to the
// edge's weight times (1 + its target's degree). Hubs are recorded where they are reached, but not expanded.
#pragma once

#include "engine/samples/sample.hpp"

struct ImportanceSample {
  static constexpr sluice::BiasClass kBias = sluice::BiasClass::fixed;  // a function of the edge: tabled once
  std::uint32_t depths = 2;
  std::uint32_t width = 16;
  std::uint32_t hub_degree = 1000;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return false; }

  /// Sums over a list must stay below 2^64, so that 16 bits of the weight have to do (at least 1 if it is
  /// positive).
  SLUICE_HD std::uint64_t edge_bias(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    const std::uint64_t weight = (graph.weight_bias(edge) + 0xffff) >> 16;
    return weight * (std::uint64_t{1} + graph.degree(edge.target));
  }

  SLUICE_HD std::uint64_t neighbor_size(const sluice::GraphView&, const sluice::samples::Expansion& at,
                                        std::uint64_t candidates, const sluice::SampleDraws&) const {
    const std::uint64_t most = at.depth <= 32 ? width >> (at.depth - 1) : 0;
    std::uint64_t size = 0;  // an integer root: host and device must agree
    while (size < most && (size + 1) * (size + 1) <= candidates) ++size;
    return size;
  }

  /// The vertex that a selected edge brings to the next depth's frontier.
  SLUICE_HD sluice::Vertex update(const sluice::GraphView& graph, const sluice::samples::Expansion&,
                                  const sluice::Edge& edge) const {
    return graph.degree(edge.target) > hub_degree ? sluice::kNoVertex : edge.target;
  }
};
