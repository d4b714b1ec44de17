// What an iteration does to an affected vertex whose next rank is known.
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
#include "engine/pagerank/dynamic/rank_view.hpp"

namespace sluice::pagerank {

/// What becomes of a member: does it stay one, and does its change spread?
struct Outcome {
  bool stays = false, spreads = false;
};

namespace detail {

/// On residuals: does the vertex push its change?
template <class Share>
SLUICE_HD Outcome settle_residual(const DynamicView<Share>& view, Vertex v, FixedRank rank, Settled& done) {
  if (!view.known[v]) {
    view.known[v] = 1;
    done.gathered += view.at.in_degree(v);
  }
  view.flags_of(v) = kEver;
  const auto before = view.at.shares[v], after = share_of<Share>(rank, view.at.divisors[v]);
  if (relative_change(before, after) <= view.frontier_tolerance) return {};
  view.sent[v] = before, view.at.shares[v] = after;
  done.pushed += view.out_degree(v);
  return {false, true};
}

/// Of the published methods: does it stay, and does its change spread?
template <class Share, class Lane>
SLUICE_HD Outcome settle_pulled(const DynamicView<Share>& view, Vertex v, FixedRank before, FixedRank after,
                                Settled& done, Lane& lane) {
  done.gathered += view.at.in_degree(v);
  const auto sent = view.at.shares[v];
  view.at.share(v);
  if (view.changed.few != nullptr && view.at.shares[v] != sent) view.changed.append(v, 0, lane);
  if (!spreads_changes(view.method)) return {};
  const bool pruned = drops_members(view.method);
  const double relative = relative_change(before, after);
  std::uint8_t& flags = view.flags_of(v);  // no other thread touches this byte now
  Outcome is{pruned && relative > view.prune_tolerance, relative > view.frontier_tolerance};
  if (pruned && !is.stays) flags = kEver;
  if (!pruned && (flags & kExpanded)) is.spreads = false;
  if (!is.spreads) return is;
  if (pruned) {
    done.pushed += view.out_degree(v);
  } else {
    flags |= kExpanded;
  }
  return is;
}

}  // namespace detail

/// Renews member v, whose sum is known.
template <class Share, class Lane>
SLUICE_HD Outcome settle_member(const DynamicView<Share>& view, Vertex v, Settled& done, Lane& lane) {
  const FixedRank before = view.at.ranks[v];
  const FixedRank after = view.is_renewed(v) ? view.renewed[v] : view.next_rank(v);
  done.change.add(before, after, view.norm);
  done.growth += after - before;
  view.at.ranks[v] = after;
  if (view.method == RankMethod::residual_frontier) return detail::settle_residual(view, v, after, done);
  return detail::settle_pulled(view, v, before, after, done, lane);
}

/// The same; v goes to `next` where it stays, and to `sources` where its change spreads.
template <class Share, class Lane>
SLUICE_HD void settle_member(const DynamicView<Share>& view, Vertex v, const VertexList& next,
                             const VertexList& sources, Settled& done, Lane& lane) {
  const Outcome is = settle_member(view, v, done, lane);
  if (is.stays) next.append(v, view.class_of(v), lane);
  if (is.spreads) sources.append(v, view.class_of_source(v), lane);
}

}  // namespace sluice::pagerank
