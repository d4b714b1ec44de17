// The operations of dynamic methods on one vertex: one source for both backends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "engine/pagerank/changes/change.hpp"
#include "engine/pagerank/divisor.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/pagerank/share.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

/// What a vertex gives to itself by self-loops: a part of its sum, and of its rank.
struct SelfLoopShare {
  FixedRank sum = 0;
  double part = 0;
};

/// Caps a sum at 1. No rank or sum is above 1, but earlier ranks of other vertices may be too high for a
/// while.
SLUICE_HD FixedRank clamp_to_one(FixedRank sum) {
  return std::min(sum, FixedRank{1} << kFixedRankBits);
}

/// ((1 - d) / n + d s) / (1 - d l), as derived in dynamic.hpp.
SLUICE_HD FixedRank closed_form(const RankUpdate& update, FixedRank sum, const SelfLoopShare& own) {
  using namespace rank_detail;
  const double others = add(update.base, multiply(update.damping, from_fixed(clamp_to_one(sum - own.sum))));
  return to_fixed(std::min(divide(others, add(1, -multiply(update.damping, own.part))), 1.0));
}

/// Whether successive iterations that pull share a launch, and those that push.
SLUICE_HD bool has_phases(RoundFusion fusion) {
  return fusion == RoundFusion::push_pull || fusion == RoundFusion::all;
}

/// Whether a method drops members (affected vertices) and makes a new list of them in every iteration. Such
/// methods compute ranks in closed form.
SLUICE_HD bool drops_members(RankMethod method) {
  return method == RankMethod::pruned_frontier || method == RankMethod::residual_frontier;
}

/// Whether changes affect out-neighbours.
SLUICE_HD bool spreads_changes(RankMethod method) {
  return drops_members(method) || method == RankMethod::dynamic_frontier;
}

/// |new - old| / max(new, old), of ranks or of contributions.
template <class T>
SLUICE_HD double relative_change(T before, T after) {
  const T larger = std::max(before, after), change = larger - std::min(before, after);
  return larger == 0 ? 0 : rank_detail::divide(static_cast<double>(change), static_cast<double>(larger));
}

/// The totals of one iteration.
struct IterationTotals {
  RankChange change;
  FixedRank growth = 0;        ///< of the sum of all ranks, modulo 2^64
  std::uint64_t gathered = 0;  ///< contributions that were gathered
  std::uint64_t pushed = 0;  ///< out-edges of vertices that push their change, or whose change spreads (dfp)

  SLUICE_HD void join(const IterationTotals& other, RankNorm norm) {
    change.join(other.change, norm);
    growth += other.growth;
    gathered += other.gathered;
    pushed += other.pushed;
  }
};

/// Edges that are pulled along in the time of one push: a push is an atomic sum at a random place, a pull a
/// read (30 and 180 million a second on two cores, Kronecker scale 18).
inline constexpr std::uint64_t kPushedForPulled = 6;

/// Whether pushing changes along so many out-edges costs more than a pull by all vertices.
SLUICE_HD bool pulling_costs_less(std::uint64_t pushed, std::uint64_t edges) {
  return pushed * kPushedForPulled > edges;
}

/// Whether so many out-edges lead from vertices whose change spreads that all vertices should pull next,
/// without marks along these edges. The next affected vertices would pull along no fewer edges, since these
/// are among their in-edges; and to mark a vertex costs no less than to pull along an edge.
SLUICE_HD bool affecting_all_costs_less(std::uint64_t pushed, std::uint64_t edges) {
  return pushed > edges / 2;
}

/// Whether all vertices pull in the next iteration of a method, whichever changes spread.
SLUICE_HD bool all_pull_next(const DynamicRankOptions& options, std::uint64_t pushed, std::uint64_t edges) {
  if (options.method == RankMethod::residual_frontier) return pulling_costs_less(pushed, edges);
  return options.method == RankMethod::pruned_frontier && options.affect_all &&
         affecting_all_costs_less(pushed, edges);
}

/// Pointers to ranks, contributions and in-edges, in the memory of one device. Trivially copyable.
template <class Share>
struct RankVertices {
  using Stored = typename Share::Stored;

  CsrView in;  ///< weights only for a WeightedShare
  FixedRank* ranks = nullptr;
  Stored* shares = nullptr;
  double* divisors = nullptr;
  Loop* loops = nullptr;

  SLUICE_HD std::uint64_t in_degree(Vertex v) const { return in.offsets[v + 1] - in.offsets[v]; }

  /// Lane `lane`'s part of the contributions to v along its in-list. An added self-loop is not in the list.
  SLUICE_HD FixedRank gather(Vertex v, std::uint64_t lane = 0, std::uint64_t lanes = 1) const {
    const EdgeIndex first = in.offsets[v];
    return pull<Share>(shares, in.targets + first, Share::kWeighted ? in.weights + first : nullptr,
                       in_degree(v), lane, lanes);
  }

  /// What v gives to itself along stored self-loops, and the part of its rank along any self-loop.
  SLUICE_HD SelfLoopShare self_loop_share(Vertex v) const {
    if (loops[v] == Loop::none) return {};
    if (loops[v] == Loop::added) return {0, rank_detail::divide(1, divisors[v])};
    SelfLoopShare own;
    const EdgeIndex last = in.offsets[v + 1];
    EdgeIndex loop = in.offsets[v] + count_below(in.targets + in.offsets[v], in_degree(v), v);
    for (; loop < last && in.targets[loop] == v; ++loop) {
      const float weight = Share::kWeighted ? in.weights[loop] : 1.0f;
      own.sum += Share::edge_contribution(shares[v], weight);
      own.part += weight;
    }
    own.part = rank_detail::divide(own.part, divisors[v]);
    return own;
  }

  /// The next rank of v, whose in-neighbours give `sum`; `closed`: in closed form.
  SLUICE_HD FixedRank next_rank(const RankUpdate& update, Vertex v, FixedRank sum, bool closed) const {
    if (closed) return closed_form(update, sum, self_loop_share(v));
    if (loops[v] == Loop::added) sum += Share::edge_contribution(shares[v], 1);
    return update(clamp_to_one(sum));
  }

  SLUICE_HD void update_share(Vertex v) const { shares[v] = share_of<Share>(ranks[v], divisors[v]); }

  /// Sets the divisor and the self-loop of v from its out-edges.
  SLUICE_HD void set_source(const CsrView& out, Vertex v, Dangling dangling) const {
    const RankSource source = source_of(out, v, v, Share::kWeighted, dangling);
    divisors[v] = source.divisor, loops[v] = source.loop;
  }
};

}  // namespace sluice::pagerank
