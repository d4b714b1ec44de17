// The state that dynamic methods go on from, and what they have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/pagerank/dynamic/affected.hpp"
#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/change_exchange.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "engine/pagerank/static/sweep_totals.hpp"
#include "partition/list_reader.hpp"

namespace sluice {

/// Vertices that one thread works on at a time; fewer are not worth a thread's start.
inline constexpr std::uint64_t kVerticesAtOnce = 1024;

/// Boundaries of the ranges that ranks of a job work on; all ranks have the graph.
inline std::vector<std::uint64_t> dynamic_ranges(const Graph& graph, int ranks) {
  if (ranks == 1) return {0, graph.vertices()};
  if (graph.vertices() == 0) return std::vector<std::uint64_t>(static_cast<std::size_t>(ranks) + 1);
  return balanced_ranges(in_edges_of(graph, false).offsets, graph.vertices(),
                         static_cast<std::uint64_t>(ranks));
}

/// What all ranks did in an iteration.
inline Settled total_of(const ChangeExchange& peers, const Settled& mine, RankNorm norm) {
  if (peers.alone()) return mine;
  std::array<std::uint64_t, 3> counts{mine.growth, mine.gathered, mine.told};
  const RankChange change = total_of(peers.ranks(), mine.change, norm, counts);
  return {change, counts[0], counts[1], counts[2]};
}

/// Ranks, what vertices offer, and who is affected. Of several ranks of a job each has its own range of
/// vertices, and what all offer.
template <class Share>
class RankState {
 public:
  RankState(const Device& device, const Graph& graph, std::span<const double> given,
            const PageRankOptions& given_options, Communicator& communicator)
      : options(given_options),
        threads(device.threads()),
        peers(communicator, dynamic_ranges(graph, communicator.size())),
        ranks(device, own(), "ranks"),
        shares(device, graph.vertices(), "contributions"),
        sources(sources_of(graph, given_options, first(), peers.last(), device.threads())),
        affected(first(), peers.last(), device.threads()),
        device_(device) {
    const auto dangling = dangling_flags(options, peers, sources.divisors.span());
    const HostArray<FixedRank> starting =
        starting_ranks(given, dangling.span(), options, first(), peers.last());
    std::copy(starting.begin(), starting.end(), ranks.data());
    offer_all();
  }

  /// Of the graph, and of this rank.
  std::uint64_t vertices() const { return peers.vertices(); }
  std::uint64_t first() const { return peers.first(); }
  std::uint64_t own() const { return peers.last() - peers.first(); }
  /// On all ranks, when they were counted last.
  std::uint64_t affected_size() const { return affected_everywhere_; }
  void count_affected() { affected_everywhere_ = peers.sum(affected.size()); }
  RankUpdate update() const { return make_update(options, vertices()); }

  template <class Body>
  void for_all(Body&& body) const {
    parallel_blocks(threads, own(), kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) body(static_cast<Vertex>(first() + i));
    });
  }

  /// Calls body(i) for members [begin, end) of the affected.
  template <class Body>
  void for_members(std::uint64_t begin, std::uint64_t end, Body&& body) const {
    parallel_blocks(threads, end - begin, kVerticesAtOnce,
                    [&](std::uint64_t first, std::uint64_t last, unsigned) {
                      for (std::uint64_t i = begin + first; i < begin + last; ++i) body(i);
                    });
  }

  /// Calls body(i, block) for every member of the affected, blocks of kVerticesAtOnce.
  template <class Body>
  void for_affected(Body&& body) const {
    parallel_blocks(threads, affected.size(), kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) body(i, begin / kVerticesAtOnce);
                    });
  }

  /// Goes over to the graph as it is after `changes`.
  void adopt(const Graph& graph, std::span<const EdgeChange> changes) {
    if (graph.vertices() > vertices()) grow(graph);
    const std::vector<Vertex> changed = changed_sources(changes, peers);
    const std::vector<RankSource> learned = sources_of(graph, options, changed, threads);
    for (std::size_t i = 0; i < changed.size(); ++i) {
      sources.divisors[changed[i] - first()] = learned[i].divisor;
      sources.loops[changed[i] - first()] = learned[i].loop;
      share(changed[i]);
    }
    peers.tell(shares.data(), changed);
  }

  /// Initially affected: targets of deletions, new vertices, and the out-neighbours of every source whose
  /// list changed. Those before the batch are those after it and the targets of deletions.
  void mark(const Graph& graph, std::span<const EdgeChange> changes, std::uint64_t old_vertices,
            RankMethod method) {
    method == RankMethod::naive_dynamic ? affected.add_all()
                                        : mark_neighbours(graph, changes, old_vertices, method);
    count_affected();
  }

  /// As a vertex is worked on. Arrays of own vertices are indexed by the ids of the graph.
  RankVertices<Share> at(const CsrView& in) {
    return {in, moved(ranks.data(), first()), shares.data(), moved(sources.divisors.data(), first()),
            moved(sources.loops.data(), first())};
  }

  ListReader out_lists(const Graph& graph) const {
    return sluice::out_lists(graph, options.weighted, threads);
  }
  /// What all ranks bring, in an order that `out` takes.
  std::vector<Vertex> everywhere(std::vector<Vertex> mine, const ListReader& out) {
    std::vector<Vertex> all = peers.everywhere(std::move(mine));
    if (out.in_file()) std::sort(all.begin(), all.end());
    return all;
  }

  /// What all ranks did in an iteration.
  Settled total_of(const Settled& mine) const { return sluice::total_of(peers, mine, options.norm); }

  PageRankOptions options;
  unsigned threads;
  ChangeExchange peers;
  Buffer<FixedRank> ranks;                ///< [own] unnormalised with Dangling::uniform
  Buffer<typename Share::Stored> shares;  ///< [vertices] what out-neighbours were told
  RankSources sources;                    ///< own
  AffectedSet affected;
  FixedRank total = 0;           ///< the sum of all ranks
  std::uint64_t lists_read = 0;  ///< bytes of out-lists that came from a file

 private:
  void mark_neighbours(const Graph& graph, std::span<const EdgeChange> changes, std::uint64_t old_vertices,
                       RankMethod method) {
    const RankVertices<Share> known = at({});
    std::vector<Vertex> changed;
    for (const EdgeChange& change : changes) {
      if (change.removed > 0) affected.add(change.target);
      if (!changed.empty() && changed.back() == change.source) continue;
      changed.push_back(change.source);
      // Its own loop carries a part that depends on its degree.
      if (peers.owns(change.source) && known.loops[change.source] == Loop::added) affected.add(change.source);
    }
    for (std::uint64_t v = old_vertices; v < vertices(); ++v) affected.add(static_cast<Vertex>(v));
    const ListReader out = out_lists(graph);
    affected.add_neighbours(out, changed);
    if (method == RankMethod::dynamic_traversal) {
      affected.add_reachable(out,
                             [&](std::vector<Vertex> fresh) { return everywhere(std::move(fresh), out); });
    }
    lists_read += out.bytes_read();
  }

  void share(Vertex v) { at({}).share(v); }

  void offer_all() {
    for_all([&](Vertex v) { share(v); });
    total = peers.sum(sum_of({ranks.data(), ranks.size()}));
    peers.tell_all(shares.data());
  }

  void grow(const Graph& graph) {
    const std::uint64_t before = vertices();
    const RankGrowth growth(before, graph.vertices(), options.damping);
    peers.grow(graph.vertices());
    const Buffer<FixedRank> old = std::move(ranks);
    ranks = Buffer<FixedRank>(device_, own(), "ranks");
    shares = {};
    shares = Buffer<typename Share::Stored>(device_, vertices(), "contributions");
    sources = grown_sources(std::move(sources), graph, options, first(), peers.last(), threads);
    affected = AffectedSet(first(), peers.last(), threads);
    const FixedRank* const old_ranks = moved(old.data(), first());
    const RankVertices<Share> all = at({});
    for_all([&](Vertex v) { all.ranks[v] = growth(old_ranks, v); });
    offer_all();
  }

  const Device& device_;
  std::uint64_t affected_everywhere_ = 0;
};

}  // namespace sluice
