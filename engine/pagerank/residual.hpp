// Dynamic Frontier on residuals, which is ours: a vertex knows the sum of what its in-neighbours have told
// it, and tells its out-neighbours anew only when its contribution is off by more than the frontier
// tolerance.
//
// The published frontiers pull along all in-edges of every affected vertex. On graphs with hubs a small batch
// affects some hub at once, and all its in-edges are read to learn that it hardly changed, in every
// iteration. Here only differences travel, along the out-edges of vertices that did change. Since
// contributions are integers, a sum kept up by differences is the sum that a pull would find, to the bit,
// whatever their order: it never drifts, and threads change nothing. A vertex pulls once, when it is first
// affected.
//
// What is left out is bounded, too: at any time every contribution that a vertex counts with is within the
// frontier tolerance t of the one that its source would give, relatively. So a solution errs, in L1, by at
// most t d / (1 - d) and what the tolerance on changes leaves, after any number of batches.
#pragma once

#include <atomic>
#include <vector>

#include "engine/pagerank/dynamic/in_edges.hpp"
#include "engine/pagerank/dynamic/state.hpp"

namespace sluice {

template <class Share>
class ResidualSolver {
 public:
  /// Adds the vertices that the last batch left waiting to the affected ones.
  void prepare(RankState<Share>& state) {
    if (known_of_ != state.vertices()) {
      forget();
      known_of_ = state.vertices();
      known_ = HostArray<std::uint8_t>(state.own(), "flags of known sums");
      sums_ = HostArray<FixedRank>(state.own(), "sums");
      std::fill(known_.begin(), known_.end(), std::uint8_t{kUnknown});
      std::fill(sums_.begin(), sums_.end(), FixedRank{0});
    }
    // Their in-edges are others now, or carry something else.
    std::uint8_t* const known = moved(known_.data(), state.first());
    for (const Vertex v : state.affected.list()) known[v] = kUnknown;
    for (const Vertex v : waiting_) state.affected.add(v);
    state.count_affected();
  }

  void solve(RankState<Share>& state, const Graph& graph, InLists& in, const DynamicRankOptions& options,
             DynamicRankResult& result, const RankObserver& observer) {
    iterate(state, graph.edges(), result, observer, [&] {
      gather(state, in);
      Settled settled = state.total_of(settle(state, graph, in.lengths(), options.frontier_tolerance));
      tell(state, graph, settled);
      state.count_affected();
      return settled;
    });
    // Told of changes that no iteration has looked at: they are looked at with the next batch.
    const auto left = state.affected.list();
    waiting_.assign(left.begin(), left.end());
  }

  /// Whatever contributions another method may have changed: sums are not known any more.
  void forget() {
    known_of_ = 0;
    waiting_.clear();
  }

 private:
  enum Sum : std::uint8_t { kUnknown, kKnown, kPulled /**< in this iteration */ };
  struct Told {
    Vertex source;
    typename Share::Stored share;  ///< the new one
  };

  /// The next rank of every member, in the order of the list. Those whose sum is not known pull; the lists of
  /// others are read for a loop in them alone.
  void gather(RankState<Share>& state, InLists& in) {
    const RankUpdate update = state.update();
    const RankVertices<Share> lengths = state.at(in.lengths());
    std::uint8_t* const known = moved(known_.data(), state.first());
    FixedRank* const sums = moved(sums_.data(), state.first());
    next_.resize(state.affected.size());
    in.for_each(
        state.affected,
        [&](Vertex v) {
          if (known[v] == kUnknown) return lengths.in_degree(v);
          return std::uint64_t{lengths.loops[v] == Loop::stored};
        },
        [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
          const RankVertices<Share> vertices = state.at(lists);
          const std::span<const Vertex> members = state.affected.list();
          state.for_members(begin, end, [&](std::uint64_t i) {
            const Vertex v = members[i];
            if (known[v] == kUnknown) {
              sums[v] = vertices.gather(v);
              known[v] = kPulled;
            }
            next_[i] = vertices.renewed(update, v, sums[v], true);
          });
        });
  }

  Settled settle(RankState<Share>& state, const Graph& graph, const CsrView& in, double tolerance) {
    const RankNorm norm = state.options.norm;
    const RankVertices<Share> vertices = state.at(in);
    std::uint8_t* const known = moved(known_.data(), state.first());
    const std::span<const Vertex> members = state.affected.list();
    const std::size_t blocks = (members.size() + kVerticesAtOnce - 1) / kVerticesAtOnce;
    std::vector<Settled> parts(blocks);
    told_.assign(blocks, {});
    state.for_affected([&](std::uint64_t i, std::uint64_t block) {
      const Vertex v = members[i];
      Settled& part = parts[block];
      if (known[v] == kPulled) {
        known[v] = kKnown;
        part.gathered += vertices.in_degree(v);
      }
      const FixedRank before = vertices.ranks[v], after = next_[i];
      part.change.add(before, after, norm);
      part.growth += after - before;
      vertices.ranks[v] = after;
      const auto share = share_of<Share>(after, vertices.divisors[v]);
      if (relative_change(vertices.shares[v], share) <= tolerance) return;
      told_[block].push_back({v, share});
      part.told += graph.out.offsets[v + 1] - graph.out.offsets[v];
    });
    Settled all;
    for (const Settled& part : parts) all.join(part, norm);
    return all;
  }

  /// Adds the differences to the sums of out-neighbours, which are the next affected ones. Where so many tell
  /// that pulling costs less, all vertices pull: nearly all are affected then, and to find out who is takes
  /// as long.
  void tell(RankState<Share>& state, const Graph& graph, Settled& settled) {
    const ListReader out = state.out_lists(graph);
    typename Share::Stored* const shares = state.shares.data();
    std::vector<Vertex> mine;
    for (const auto& part : told_)
      for (const Told& told : part) mine.push_back(told.source);
    const std::vector<Vertex> sources = state.everywhere(mine, out);
    std::vector<typename Share::Stored> before;
    for (const Vertex v : sources) before.push_back(shares[v]);
    for (const auto& part : told_)
      for (const Told& told : part) shares[told.source] = told.share;
    state.peers.tell(shares, mine);
    if (pulling_costs_less(settled.told, graph.edges())) {
      std::fill(known_.begin(), known_.end(), std::uint8_t{kUnknown});
      return state.affected.add_all();
    }
    settled.gathered += settled.told;
    FixedRank* const sums = moved(sums_.data(), state.first());
    state.affected.drop_all();
    state.affected.add_neighbours(out, sources, [&](const CsrView& lists, std::size_t i, EdgeIndex edge) {
      const float weight = Share::kWeighted ? lists.weights[edge] : 1.0f;
      const FixedRank difference =
          Share::carried(shares[sources[i]], weight) - Share::carried(before[i], weight);
      // Modulo 2^64: a smaller share takes away. The sum of a vertex that has not pulled yet is not read.
      std::atomic_ref(sums[lists.targets[edge]]).fetch_add(difference, std::memory_order_relaxed);
    });
    state.lists_read += out.bytes_read();
  }

  HostArray<FixedRank> sums_;      ///< [own] of what in-neighbours have told, by lists
  HostArray<std::uint8_t> known_;  ///< [own] a Sum
  std::uint64_t known_of_ = 0;     ///< vertices of the graph that they are of; 0: of none
  std::vector<FixedRank> next_;    ///< of the members, in the order of the list
  std::vector<Vertex> waiting_;
  std::vector<std::vector<Told>> told_;  ///< by block
};

}  // namespace sluice
