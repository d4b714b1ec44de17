// node2vec (Grover and Leskovec, KDD'16, section 3.2). The first step is drawn by weight. Later steps are
// drawn by weight times a factor: 1/p for the previous vertex t, 1 for neighbours of t, 1/q for all others.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/walks/sampler.hpp"

namespace sluice::walks {

struct Node2vecWalk {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  static constexpr bool kReadsNoList = true;
  // The three factors, scaled so that the largest is 2^31. With weights below 2^32 a bias fits 64 bits, and
  // rejection and inverse transform draw from exactly the same integers.
  std::uint64_t back = 0, near = 0, far = 0;

  Node2vecWalk() = default;
  Node2vecWalk(double p, double q) {
    const double largest = std::max({1 / p, 1.0, 1 / q});
    const auto scaled = [&](double factor) {
      return static_cast<std::uint64_t>(std::max(1.0, std::rint(factor / largest * 2147483648.0)));
    };
    back = scaled(1 / p), near = scaled(1), far = scaled(1 / q);
  }

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.weight_bias(edge);
  }
  SLUICE_HD bool edge_bias_is_uniform(const GraphView& graph) const { return !graph.weighted(); }
  SLUICE_HD std::uint64_t bias_bound() const { return back > near ? larger(back, far) : larger(near, far); }
  SLUICE_HD std::uint64_t bias_floor() const { return back < near ? smaller(back, far) : smaller(near, far); }
  SLUICE_HD Question question(const Walker& walker, const Edge& edge) const {
    if (walker.previous == kNoVertex || edge.target == walker.previous) return {};
    return {walker.previous, edge.target};
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView&, const Walker& walker, const Edge& edge,
                                       bool neighbour) const {
    if (walker.previous == kNoVertex) return bias_bound();
    if (edge.target == walker.previous) return back;
    return neighbour ? near : far;
  }

 private:
  SLUICE_HD static std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }
  SLUICE_HD static std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

}  // namespace sluice::walks
