// Naive-dynamic, Dynamic Traversal, Dynamic Frontier and the same with Pruning: affected vertices pull along
// all their in-edges, and those whose rank changes enough affect their out-neighbours. Where these are the
// sources of most edges, pruning affects all vertices without looking which (dynamic/vertex.hpp): more than
// the paper's frontier, so no less exact, and in no more time.
#pragma once

#include <vector>

#include "engine/pagerank/dynamic/in_edges.hpp"
#include "engine/pagerank/dynamic/state.hpp"

namespace sluice {

template <class Share>
class FrontierSolver {
 public:
  void solve(RankState<Share>& state, const Graph& graph, InLists& in, const DynamicRankOptions& options,
             DynamicRankResult& result, const RankObserver& observer) {
    iterate(state, graph.edges(), result, observer, [&] {
      gather(state, in, options.method == RankMethod::pruned_frontier);
      const Settled settled = state.total_of(settle(state, graph, in.lengths(), options));
      spread(state, graph, settled, options);
      return settled;
    });
  }

 private:
  /// The next rank of every member, in the order of the list; nothing that others read changes.
  void gather(RankState<Share>& state, InLists& in, bool closed) {
    const RankUpdate update = state.update();
    const RankVertices<Share> lengths = state.at(in.lengths());
    next_.resize(state.affected.size());
    in.for_each(
        state.affected, [&](Vertex v) { return lengths.in_degree(v); },
        [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
          const RankVertices<Share> vertices = state.at(lists);
          const std::span<const Vertex> members = state.affected.list();
          state.for_members(begin, end, [&](std::uint64_t i) {
            const Vertex v = members[i];
            next_[i] = vertices.renewed(update, v, vertices.gather(v), closed);
          });
        });
  }

  /// Makes the next ranks the ranks, and finds out whose change spreads and who leaves.
  Settled settle(RankState<Share>& state, const Graph& graph, const CsrView& in,
                 const DynamicRankOptions& options) {
    const bool frontier = options.method == RankMethod::dynamic_frontier;
    const bool pruned = options.method == RankMethod::pruned_frontier;
    const RankNorm norm = state.options.norm;
    const RankVertices<Share> vertices = state.at(in);
    const std::span<const Vertex> members = state.affected.list();
    const std::size_t blocks = (members.size() + kVerticesAtOnce - 1) / kVerticesAtOnce;
    std::vector<Settled> parts(blocks);
    expanding_.assign(blocks, {}), changed_.assign(blocks, {});
    if (pruned) stays_.resize(members.size());
    state.for_affected([&](std::uint64_t i, std::uint64_t block) {
      const Vertex v = members[i];
      const FixedRank before = vertices.ranks[v], after = next_[i];
      Settled& part = parts[block];
      part.change.add(before, after, norm);
      part.growth += after - before;
      part.gathered += vertices.in_degree(v);
      vertices.ranks[v] = after;
      const auto told = vertices.shares[v];
      vertices.share(v);
      if (!state.peers.alone() && vertices.shares[v] != told) changed_[block].push_back(v);
      if (!frontier && !pruned) return;
      const double relative = relative_change(before, after);
      if (pruned) stays_[i] = relative > options.prune_tolerance;
      if (relative > options.frontier_tolerance && (pruned || state.affected.first_expansion(v))) {
        expanding_[block].push_back(v);
        if (pruned) part.told += graph.out.offsets[v + 1] - graph.out.offsets[v];
      }
    });
    Settled all;
    for (const Settled& part : parts) all.join(part, norm);
    return all;
  }

  /// Tells the other ranks what is new, and finds out who is affected next.
  void spread(RankState<Share>& state, const Graph& graph, const Settled& settled,
              const DynamicRankOptions& options) {
    state.peers.tell(state.shares.data(), joined(changed_));
    const bool pruned = options.method == RankMethod::pruned_frontier;
    if (!pruned && options.method != RankMethod::dynamic_frontier) return;
    if (all_are_next(options.method, settled.told, graph.edges())) {
      state.affected.add_all();
      return state.count_affected();
    }
    if (pruned) state.affected.keep(stays_);
    const ListReader out = state.out_lists(graph);
    const std::vector<Vertex> sources = state.everywhere(joined(expanding_), out);
    if (!sources.empty()) state.affected.add_neighbours(out, sources);
    state.lists_read += out.bytes_read();
    state.count_affected();
  }

  static std::vector<Vertex> joined(const std::vector<std::vector<Vertex>>& parts) {
    std::vector<Vertex> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  std::vector<FixedRank> next_;                 ///< of the members, in the order of the list
  std::vector<std::uint8_t> stays_;             ///< the same
  std::vector<std::vector<Vertex>> expanding_;  ///< by block
  std::vector<std::vector<Vertex>> changed_;    ///< the same: they give something else than before
};

}  // namespace sluice
