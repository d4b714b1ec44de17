// PageRank as an Active-Compute-Combine program: what rank/pagerank.hpp does in its static form, with the
// same fixed-point arithmetic (rank/fixed_rank.hpp), and so to the same bits.
#pragma once

#include "engine/acc/program.hpp"
#include "engine/pagerank/fixed_rank.hpp"

namespace sluice {

struct PageRankProgram {
  using State = FixedRank;
  static constexpr Combine kCombine = Combine::gather;
  static constexpr bool kSums = true;

  RankUpdate update;  ///< of this round
  double tolerance = 1e-10;

  SLUICE_HD State init(Vertex, std::uint64_t) const { return to_fixed(1 / update.vertices); }
  SLUICE_HD State send(State rank, std::uint64_t degree) const {
    return degree > 0 ? contribution(rank, static_cast<double>(degree)) : 0;
  }
  SLUICE_HD State compute(const AccEdge<State>& edge) const { return edge.state(); }
  SLUICE_HD State combine(State into, State value) const { return into + value; }
  SLUICE_HD State finish(State, State gathered) const { return update(gathered); }
  SLUICE_HD bool active(State now, State before) const {
    return from_fixed(now > before ? now - before : before - now) > tolerance;
  }
  /// Dangling vertices keep their rank from everybody's edges; it is spread over all in the next round.
  SLUICE_HD State carry(State rank, std::uint64_t degree) const { return degree == 0 ? rank : 0; }
  SLUICE_HD void begin(State carried) { update.spread(carried); }
};

}  // namespace sluice
