// The integer biases that draws are exact for (CONTRACT section 5), by plain code.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/select/options.hpp"
#include "partition/graph.hpp"

namespace sluice::stat {

inline std::uint64_t degree(const CsrView& graph, Vertex v) {
  return graph.offsets[v + 1] - graph.offsets[v];
}

inline std::span<const Vertex> neighbours(const CsrView& graph, Vertex v) {
  return {graph.targets + graph.offsets[v], degree(graph, v)};
}

inline double weight_at(const CsrView& graph, EdgeIndex edge) {
  return graph.weights ? graph.weights[edge] : 1.0;
}

/// A weight relative to the largest of its list: max(1, rint(w * 2^(31-e))), e the exponent of the largest.
inline double quantised(double weight, double largest) {
  if (weight <= 0) return 0;
  return std::max(1.0, std::rint(std::ldexp(weight, 31 - std::ilogb(largest))));
}

/// Biases of the concatenated lists of `sources`; all weights are quantised by the largest of them.
inline std::vector<double> list_biases(const CsrView& graph, std::span<const Vertex> sources, Bias bias) {
  double largest = 0;
  for (const Vertex v : sources)
    for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      largest = std::max(largest, weight_at(graph, e));
  std::vector<double> biases;
  for (const Vertex v : sources) {
    for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      if (bias == Bias::none) biases.push_back(1);
      if (bias == Bias::weight) biases.push_back(quantised(weight_at(graph, e), largest));
      if (bias == Bias::degree) biases.push_back(static_cast<double>(degree(graph, graph.targets[e])));
    }
  }
  return biases;
}

inline std::vector<double> list_biases(const CsrView& graph, Vertex v, Bias bias) {
  return list_biases(graph, std::span<const Vertex>(&v, 1), bias);
}

/// The number of positive biases.
inline std::uint64_t candidates(std::span<const double> biases) {
  return static_cast<std::uint64_t>(
      std::count_if(biases.begin(), biases.end(), [](double b) { return b > 0; }));
}

}  // namespace sluice::stat
