// How belief propagation begins, an edge or a vertex at a time: what vertices think themselves, on either
// backend, and, of a whole graph on a GPU, where reverse edges stand and messages that say nothing yet.
#pragma once

#include <cstdint>

#include "engine/acc/beliefs/bp.hpp"
#include "engine/core/search.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

inline constexpr const char* kNoReverse =
    "the graph calls itself undirected, but an edge has no reverse of the same weight (see sluice check)";

/// log2 of value / most; -infinity for zero.
SLUICE_HD double log_ratio(double value, double most) {
  if (!(value > 0)) return -BeliefPropagation::kInfinity;
  const double ratio = exact::divide(value, most);
  return ratio >= 0x1p-1022 ? exact::log2(ratio) : kLeastLog;
}

/// Trivially copyable; pointers are all to host or all to device memory.
struct BeliefStart {
  static constexpr EdgeIndex kNoEdge = ~EdgeIndex{0};

  BeliefPropagation program;  ///< its `beliefs` hold the priors as they were given
  CsrView lists;
  std::uint64_t first = 0;         ///< the vertex of the first list
  EdgeIndex* reverse = nullptr;    ///< [edges]
  LogProduct* priors = nullptr;    ///< [vertices][states]
  std::int64_t* messages[2] = {};  ///< [edges][states]
  std::int64_t uniform = 0;        ///< a message that says nothing

  /// The vertex whose list holds e.
  SLUICE_HD Vertex owner(EdgeIndex e) const {
    return static_cast<Vertex>(count_below(lists.offsets, lists.vertices + 1, e + 1) - 1);
  }

  /// Of e in the list of v; kNoEdge: there is none of the same weight. The copies of an edge between two
  /// vertices stand in the same order in both lists.
  SLUICE_HD EdgeIndex reverse_of(Vertex v, EdgeIndex e) const {
    const Vertex u = lists.targets[e];
    const EdgeIndex back = first_edge(u, v) + (e - first_edge(v, u));
    const bool there = back < lists.offsets[u + 1ull] && lists.targets[back] == v;
    // Of one state there is nothing to send.
    const bool same = program.states == 1 || program.weight(back) == program.weight(e);
    return there && same ? back : kNoEdge;
  }

  /// Self-loops send nothing: their factors count with the prior.
  SLUICE_HD void begin_messages(EdgeIndex e) const {
    const std::int64_t message = reverse[e] == e ? 0 : uniform;
    for (unsigned x = 0; x < program.states; ++x)
      messages[0][e * program.states + x] = messages[1][e * program.states + x] = message;
  }

  /// The prior of the vertex of a row, of the largest entry 1, with the factors of self-loops; it believes
  /// nothing yet.
  SLUICE_HD void begin_vertex(std::uint64_t row) const {
    const unsigned states = program.states;
    const auto v = static_cast<Vertex>(first + row);
    double* given = program.beliefs + row * states;
    double most = 0;
    for (unsigned x = 0; x < states; ++x) most = given[x] > most ? given[x] : most;
    const EdgeIndex end = lists.offsets[row + 1], loops = first_edge(row, v);
    for (unsigned x = 0; x < states; ++x) {
      LogProduct product = as_factor(log_ratio(given[x], most));
      for (EdgeIndex e = loops; e < end && lists.targets[e] == v; ++e)
        product.multiply(as_factor(program.coupling_log(x, x, program.weight(e))));
      priors[row * states + x] = product;
    }
    for (unsigned x = 0; x < states; ++x) given[x] = 0;
  }

 private:
  /// The first edge of a row that leads to `to` or behind it.
  SLUICE_HD EdgeIndex first_edge(std::uint64_t row, Vertex to) const {
    const EdgeIndex begin = lists.offsets[row];
    return begin + count_below(lists.targets + begin, lists.offsets[row + 1] - begin, to);
  }

  SLUICE_HD LogProduct as_factor(double log) const {
    return BeliefPropagation::is_zero(log) ? LogProduct{0, 1} : LogProduct{program.fixed(log), 0};
  }
};

}  // namespace sluice::acc
