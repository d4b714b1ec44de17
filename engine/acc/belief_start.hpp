// How belief propagation begins, an edge or a vertex at a time, on either backend: where reverse edges stand,
// what vertices think themselves, and messages that say nothing yet.
#pragma once

#include <cstdint>

#include "engine/acc/bp.hpp"
#include "engine/core/search.hpp"
#include "partition/graph.hpp"

namespace sluice {

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
  EdgeIndex* reverse = nullptr;    ///< [edges]
  LogProduct* priors = nullptr;    ///< [vertices][states]
  std::int64_t* messages[2] = {};  ///< [edges][states]
  std::int64_t uniform = 0;        ///< a message that says nothing

  /// The vertex whose list holds e.
  SLUICE_HD Vertex owner(EdgeIndex e) const {
    return static_cast<Vertex>(count_below(lists.offsets, lists.vertices + 1, e + 1) - 1);
  }

  /// Of e in the list of v; kNoEdge: there is none. The copies of an edge between two vertices stand in the
  /// same order in both lists.
  SLUICE_HD EdgeIndex reverse_of(Vertex v, EdgeIndex e) const {
    const Vertex u = lists.targets[e];
    const EdgeIndex back = first_edge(u, v) + (e - first_edge(v, u));
    return back < lists.offsets[u + 1ull] && lists.targets[back] == v ? back : kNoEdge;
  }

  /// Self-loops tell nothing: their factors count with the prior.
  SLUICE_HD void begin_messages(EdgeIndex e) const {
    const std::int64_t message = reverse[e] == e ? 0 : uniform;
    for (unsigned x = 0; x < program.states; ++x)
      messages[0][e * program.states + x] = messages[1][e * program.states + x] = message;
  }

  /// The prior of v, of the largest entry 1, with the factors of self-loops; v believes nothing yet.
  SLUICE_HD void begin_vertex(Vertex v) const {
    const unsigned states = program.states;
    double* given = program.beliefs + std::uint64_t{v} * states;
    double most = 0;
    for (unsigned x = 0; x < states; ++x) most = given[x] > most ? given[x] : most;
    const EdgeIndex end = lists.offsets[v + 1ull], loops = first_edge(v, v);
    for (unsigned x = 0; x < states; ++x) {
      LogProduct product = as_factor(log_ratio(given[x], most));
      for (EdgeIndex e = loops; e < end && lists.targets[e] == v; ++e)
        product.multiply(as_factor(program.coupling_log(x, x, e)));
      priors[std::uint64_t{v} * states + x] = product;
    }
    for (unsigned x = 0; x < states; ++x) given[x] = 0;
  }

 private:
  /// The first edge of v's list that leads to `to` or behind it.
  SLUICE_HD EdgeIndex first_edge(Vertex v, Vertex to) const {
    const EdgeIndex begin = lists.offsets[v];
    return begin + count_below(lists.targets + begin, lists.offsets[v + 1ull] - begin, to);
  }

  SLUICE_HD LogProduct as_factor(double log) const {
    return BeliefPropagation::is_zero(log) ? LogProduct{0, 1} : LogProduct{program.fixed(log), 0};
  }
};

}  // namespace sluice
