// Initialization of belief propagation, for one edge or vertex at a time: the priors of vertices, on both
// backends, and the positions of reverse edges, if GPUs hold the graph.
#pragma once

#include <cstdint>

#include "engine/acc/beliefs/bp.hpp"
#include "engine/core/search.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

inline constexpr const char* kNoReverse =
    "the graph is marked as undirected, but an edge has no reverse of the same weight (see sluice check)";

/// log2 of value / most; -infinity for zero.
SLUICE_HD double log_ratio(double value, double max_value) {
  if (!(value > 0)) return -BeliefPropagation::kInfinity;
  const double ratio = exact::divide(value, max_value);
  return ratio >= 0x1p-1022 ? exact::log2(ratio) : kMinLog;
}

/// Trivially copyable; all pointers are to host, or all to device memory.
struct BeliefStart {
  static constexpr EdgeIndex kNoEdge = ~EdgeIndex{0};

  BeliefPropagation program;  ///< its `beliefs` hold the given priors
  CsrView lists;
  std::uint64_t first = 0;       ///< vertex of row 0
  LogProduct* priors = nullptr;  ///< [vertices][states]

  /// For edge e of a row, returns the position of its reverse edge in the target's list, row `target_row` of
  /// `others`, or kNoEdge if none has the same weight. Parallel edges are in the same order in both lists.
  SLUICE_HD EdgeIndex reverse_of(std::uint64_t row, EdgeIndex e, const CsrView& others,
                                 std::uint64_t target_row) const {
    const auto v = static_cast<Vertex>(first + row);
    const Vertex target = lists.targets[e];
    const bool is_parallel = e > lists.offsets[row] && lists.targets[e - 1] == target;
    const EdgeIndex parallel_index = is_parallel ? e - first_edge(lists, row, target) : 0;
    const EdgeIndex reverse = first_edge(others, target_row, v) + parallel_index;
    if (reverse >= others.offsets[target_row + 1] || others.targets[reverse] != v) return kNoEdge;
    // With a single state, messages carry no information.
    const bool matches =
        program.states == 1 || lists.weights == nullptr || others.weights[reverse] == lists.weights[e];
    return matches ? reverse : kNoEdge;
  }

  /// Computes the prior of a row's vertex, scaled to a largest entry of 1, with the factors of self-loops.
  /// Its beliefs become 0.
  SLUICE_HD void begin_vertex(std::uint64_t row) const {
    const unsigned states = program.states;
    const auto v = static_cast<Vertex>(first + row);
    double* vertex_beliefs = program.beliefs + row * states;
    double max_prior = 0;
    for (unsigned x = 0; x < states; ++x)
      max_prior = vertex_beliefs[x] > max_prior ? vertex_beliefs[x] : max_prior;
    const EdgeIndex loops = first_edge(lists, row, v);
    EdgeIndex end = loops;
    while (end < lists.offsets[row + 1] && lists.targets[end] == v) ++end;
    bool underflows = false;
    double max_log = -BeliefPropagation::kInfinity;
    for (unsigned x = 0; x < states; ++x) {
      const double log = loops_log(x, loops, end, underflows);
      max_log = log > max_log ? log : max_log;
    }
    for (unsigned x = 0; x < states; ++x) {
      LogProduct product = as_factor(log_ratio(vertex_beliefs[x], max_prior));
      if (underflows && !BeliefPropagation::is_zero(max_log)) {
        product.multiply(as_factor(exact::add(loops_log(x, loops, end, underflows), -max_log)));
      } else {
        for (EdgeIndex e = loops; e < end; ++e)
          product.multiply(as_factor(program.coupling_log(x, x, program.weight(e))));
      }
      priors[row * states + x] = product;
    }
    for (unsigned x = 0; x < states; ++x) vertex_beliefs[x] = 0;
  }

 private:
  /// log2 of the product of the factors of self-loops [begin, end) in state x. Sets `underflows` if one of
  /// these factors is below the least that a LogProduct holds: only their product, relative to that of the
  /// likeliest state, is then exact.
  SLUICE_HD double loops_log(unsigned x, EdgeIndex begin, EdgeIndex end, bool& underflows) const {
    double sum = 0;
    for (EdgeIndex e = begin; e < end; ++e) {
      const double log = program.coupling_log(x, x, program.weight(e));
      underflows = underflows || (log < kMinLog && !BeliefPropagation::is_zero(log));
      sum = exact::add(sum, log);
    }
    return sum;
  }
  /// The first edge of a row whose target is at least `min_target`.
  SLUICE_HD static EdgeIndex first_edge(const CsrView& lists, std::uint64_t row, Vertex min_target) {
    const EdgeIndex begin = lists.offsets[row];
    return begin + count_below(lists.targets + begin, lists.offsets[row + 1] - begin, min_target);
  }

  SLUICE_HD LogProduct as_factor(double log) const {
    return BeliefPropagation::is_zero(log) ? LogProduct{0, 1} : LogProduct{program.fixed(log), 0};
  }
};

}  // namespace sluice::acc
