// The update of an affected vertex whose sum is known.
//
// Naive-dynamic and Dynamic Traversal only update its rank. Dynamic Frontier marks its out-neighbours as
// affected if its rank changed enough; with Pruning, the vertex leaves if its rank hardly changed. If most
// edges lead from vertices that changed enough, Pruning affects all vertices without marks (vertex.hpp): more
// than the paper's frontier, so no less exact, and in no more time.
//
// Dynamic Frontier on residuals is ours. A vertex keeps the sum of the contributions that its in-neighbours
// have sent. It pushes to its out-neighbours again only when its contribution is off by more than the
// frontier tolerance. The published frontiers pull along all in-edges of every affected vertex. On graphs
// with hubs a small batch soon affects some hub, and every iteration reads all its in-edges to find that it
// hardly changed. Here only differences travel, along the out-edges of vertices that did change.
// Contributions are integers, so a sum kept up by differences equals the sum of a pull to the bit, in any
// order of threads: it never drifts. A vertex pulls once, when it is first affected.
//
// The error of residuals is bounded, too. At any time every contribution in a sum is within a relative t, the
// frontier tolerance, of the one that its source would give. So after any number of batches a solution errs
// in L1 by at most t d / (1 - d) and what the tolerance on changes leaves.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/pagerank/dynamic/rank_view.hpp"

namespace sluice::pagerank {

/// Whether a vertex stays a member, and whether its change spreads.
struct Outcome {
  bool stays = false, spreads = false;
};

namespace detail {

/// The outcome on residuals: the vertex leaves, and pushes its change if that is large enough.
template <class Share>
SLUICE_HD Outcome settle_residual(const DynamicView<Share>& view, Vertex v, FixedRank rank,
                                  IterationTotals& done) {
  if (!view.sum_known[v]) {
    view.sum_known[v] = 1;
    done.gathered += view.vertices.in_degree(v);
  }
  view.flags_of(v) = kEver;
  const auto before = view.vertices.shares[v], after = share_of<Share>(rank, view.vertices.divisors[v]);
  if (relative_change(before, after) <= view.frontier_tolerance) return {};
  view.old_shares[v] = before, view.vertices.shares[v] = after;
  done.pushed += view.out_degree(v);
  return {false, true};
}

/// The outcome of the published methods.
template <class Share, class Lane>
SLUICE_HD Outcome settle_pulled(const DynamicView<Share>& view, Vertex v, FixedRank before, FixedRank after,
                                IterationTotals& done, Lane& lane) {
  done.gathered += view.vertices.in_degree(v);
  const auto old_share = view.vertices.shares[v];
  view.vertices.update_share(v);
  if (view.changed.short_rows != nullptr && view.vertices.shares[v] != old_share)
    view.changed.append(v, 0, lane);
  if (!spreads_changes(view.method)) return {};
  const bool pruned = drops_members(view.method);
  const double relative = relative_change(before, after);
  std::uint8_t& flags = view.flags_of(v);  // no other thread touches this byte now
  Outcome outcome{pruned && relative > view.prune_tolerance, relative > view.frontier_tolerance};
  if (pruned && !outcome.stays) flags = kEver;
  if (!pruned && (flags & kExpanded)) outcome.spreads = false;
  if (!outcome.spreads) return outcome;
  if (pruned) {
    done.pushed += view.out_degree(v);
  } else {
    flags |= kExpanded;
  }
  return outcome;
}

}  // namespace detail

/// Updates member v, whose sum is known.
template <class Share, class Lane>
SLUICE_HD Outcome settle_member(const DynamicView<Share>& view, Vertex v, IterationTotals& done, Lane& lane) {
  const FixedRank before = view.vertices.ranks[v];
  const FixedRank after = view.is_precomputed(v) ? view.precomputed[v] : view.next_rank(v);
  done.change.add(before, after, view.norm);
  done.growth += after - before;
  view.vertices.ranks[v] = after;
  if (view.method == RankMethod::residual_frontier) return detail::settle_residual(view, v, after, done);
  return detail::settle_pulled(view, v, before, after, done, lane);
}

/// The same; v is appended to `next` if it stays, and to `sources` if its change spreads.
template <class Share, class Lane>
SLUICE_HD void settle_member(const DynamicView<Share>& view, Vertex v, const VertexList& next,
                             const VertexList& sources, IterationTotals& done, Lane& lane) {
  const Outcome outcome = settle_member(view, v, done, lane);
  if (outcome.stays) next.append(v, view.class_of(v), lane);
  if (outcome.spreads) sources.append(v, view.class_of_source(v), lane);
}

}  // namespace sluice::pagerank
