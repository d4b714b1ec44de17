// What an iteration does to an affected vertex whose next rank is known: the same source on both backends.
//
// Naive-dynamic and Dynamic Traversal only renew it. Dynamic Frontier affects its out-neighbours where its
// rank changed enough, and with Pruning it leaves where its rank hardly changed. Where such vertices are the
// sources of most edges, pruning affects all vertices without looking which (vertex.hpp): more than the
// paper's frontier, so no less exact, and in no more time.
//
// Dynamic Frontier on residuals is ours: a vertex knows the sum of what its in-neighbours have sent, and
// pushes to its out-neighbours anew only when its contribution is off by more than the frontier tolerance.
// The published frontiers pull along all in-edges of every affected vertex. On graphs with hubs a small batch
// affects some hub at once, and all its in-edges are read to learn that it hardly changed, in every
// iteration. Here only differences travel, along the out-edges of vertices that did change. Since
// contributions are integers, a sum kept up by differences is the sum that a pull would find, to the bit,
// whatever their order: it never drifts, and threads change nothing. A vertex pulls once, when it is first
// affected.
//
// What residuals leave out is bounded, too: at any time every contribution that a vertex counts with is
// within the frontier tolerance t of the one that its source would give, relatively. So a solution errs, in
// L1, by at most t d / (1 - d) and what the tolerance on changes leaves, after any number of batches.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"

namespace sluice::pagerank {

/// Whether a method's members leave, and every iteration makes a new list; their ranks are in closed form.
SLUICE_HD bool drops_members(RankMethod method) {
  return method == RankMethod::pruned_frontier || method == RankMethod::residual_frontier;
}

/// Whether changes affect out-neighbours.
SLUICE_HD bool spreads_changes(RankMethod method) {
  return drops_members(method) || method == RankMethod::dynamic_frontier;
}

/// What a batch asks of every member.
struct SettleRules {
  RankNorm norm = RankNorm::linf;
  RankMethod method = RankMethod::naive_dynamic;
  double frontier_tolerance = 0, prune_tolerance = 0;
};

namespace detail {

/// On residuals: does the vertex push its change?
template <class Share, class Lane>
SLUICE_HD void settle_residual(const RankVertices<Share>& at, const SettleRules& rules, Vertex v,
                               FixedRank rank, Settled& done, Lane& lane) {
  if (lane.pulled(v)) done.gathered += at.in_degree(v);
  lane.leaves(v);
  const auto before = at.shares[v], after = share_of<Share>(rank, at.divisors[v]);
  if (relative_change(before, after) <= rules.frontier_tolerance) return;
  lane.offers(v, before, after);
  done.pushed += lane.out_degree(v);
  lane.spreads(v);
}

/// Of the published methods: does it stay, and does its change spread?
template <class Share, class Lane>
SLUICE_HD void settle_pulled(const RankVertices<Share>& at, const SettleRules& rules, Vertex v,
                             FixedRank before, FixedRank after, Settled& done, Lane& lane) {
  done.gathered += at.in_degree(v);
  const auto sent = at.shares[v];
  at.share(v);
  if (lane.reports() && at.shares[v] != sent) lane.changed(v);
  if (!spreads_changes(rules.method)) return;
  const bool pruned = drops_members(rules.method);
  const double relative = relative_change(before, after);
  if (pruned) relative > rules.prune_tolerance ? lane.stays(v) : lane.leaves(v);
  if (!(relative > rules.frontier_tolerance)) return;
  if (!pruned && !lane.expands_first(v)) return;
  if (pruned) done.pushed += lane.out_degree(v);
  lane.spreads(v);
}

}  // namespace detail

/// Makes `after` the rank of member v, which was `before`. The lane says what it knows of v, pulled(v) (its
/// sum is new, and known from now on), expands_first(v), out_degree(v), reports() (other ranks are to receive
/// changes), and takes what becomes of it: stays(v) or leaves(v), spreads(v), changed(v) (its contribution is
/// another), offers(v, before, after) (the contribution that its out-neighbours receive).
template <class Share, class Lane>
SLUICE_HD void settle_member(const RankVertices<Share>& at, const SettleRules& rules, Vertex v,
                             FixedRank before, FixedRank after, Settled& done, Lane& lane) {
  done.change.add(before, after, rules.norm);
  done.growth += after - before;
  at.ranks[v] = after;
  if (rules.method == RankMethod::residual_frontier) {
    detail::settle_residual(at, rules, v, after, done, lane);
  } else {
    detail::settle_pulled(at, rules, v, before, after, done, lane);
  }
}

}  // namespace sluice::pagerank
