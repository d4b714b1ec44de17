// Exact probabilities of a walk's next vertex (CONTRACT section 4, Walks). A row has one cell for each
// vertex, and a last one for the end of the walk.
#pragma once

#include <numeric>
#include <vector>

#include "statistical/oracle_bias.hpp"

namespace sluice::stat {

using Row = std::vector<double>;

inline Row ending_row(const CsrView& graph) {
  Row row(graph.vertices + 1, 0.0);
  row.back() = 1;
  return row;
}

/// Proportional to `biases`, one for each entry of v's list; the walk ends if none is positive.
inline Row proportional_row(const CsrView& graph, Vertex v, const std::vector<double>& biases) {
  const double sum = std::accumulate(biases.begin(), biases.end(), 0.0);
  if (sum <= 0) return ending_row(graph);
  Row row(graph.vertices + 1, 0.0);
  const auto targets = neighbours(graph, v);
  for (std::size_t i = 0; i < targets.size(); ++i) row[targets[i]] += biases[i] / sum;
  return row;
}

inline Row biased_row(const CsrView& graph, Vertex v, Bias bias) {
  return proportional_row(graph, v, list_biases(graph, v, bias));
}

inline Row uniform_row(const CsrView& graph, Vertex v) {
  return biased_row(graph, v, Bias::none);
}

inline Row metropolis_hastings_row(const CsrView& graph, Vertex v) {
  const auto targets = neighbours(graph, v);
  if (targets.empty()) return ending_row(graph);
  Row row(graph.vertices + 1, 0.0);
  const double d = static_cast<double>(targets.size());
  for (const Vertex u : targets) {
    const double du = static_cast<double>(degree(graph, u));
    const double accept = du <= d ? 1 : d / du;
    row[u] += accept / d;
    row[v] += (1 - accept) / d;
  }
  return row;
}

/// With probability P the distribution `elsewhere`, which dead ends always use.
inline Row mixed_row(const CsrView& graph, Vertex v, double probability, const Row& elsewhere) {
  if (degree(graph, v) == 0) return elsewhere;
  Row row = uniform_row(graph, v);
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = (1 - probability) * row[i] + probability * elsewhere[i];
  return row;
}

inline Row jump_row(const CsrView& graph, Vertex v, double probability) {
  Row everywhere(graph.vertices + 1, 1.0 / static_cast<double>(graph.vertices));
  everywhere.back() = 0;
  return mixed_row(graph, v, probability, everywhere);
}

inline Row restart_row(const CsrView& graph, Vertex v, Vertex start, double probability) {
  Row at_start(graph.vertices + 1, 0.0);
  at_start[start] = 1;
  return mixed_row(graph, v, probability, at_start);
}

/// From v after t (kNoVertex at the first step).
inline Row node2vec_row(const CsrView& graph, Vertex t, Vertex v, double p, double q) {
  std::vector<double> biases = list_biases(graph, v, Bias::weight);
  if (t != kNoVertex) {
    const auto back = neighbours(graph, t), targets = neighbours(graph, v);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool near = std::find(back.begin(), back.end(), targets[i]) != back.end();
      biases[i] *= targets[i] == t ? 1 / p : near ? 1.0 : 1 / q;
    }
  }
  return proportional_row(graph, v, biases);
}

}  // namespace sluice::stat
