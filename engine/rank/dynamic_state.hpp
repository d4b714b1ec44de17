// The state that dynamic methods go on from, and what they have in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/rank/affected.hpp"
#include "engine/rank/dynamic_backend.hpp"
#include "engine/rank/sweep.hpp"

namespace sluice {

/// Vertices that one thread works on at a time; fewer are not worth a thread's start.
inline constexpr std::uint64_t kVerticesAtOnce = 1024;

/// Ranks, what vertices offer, and who is affected.
template <class Share>
class RankState {
 public:
  RankState(const Device& device, const Graph& graph, std::span<const double> given,
            const PageRankOptions& given_options)
      : options(given_options),
        threads(device.threads()),
        ranks(device, graph.vertices(), "ranks"),
        shares(device, graph.vertices(), "contributions"),
        divisors(graph.vertices(), "out-degrees"),
        loops(graph.vertices(), "self-loops"),
        affected(graph.vertices(), device.threads()),
        device_(device) {
    for_all([&](Vertex v) { learn_source(graph, v); });
    const HostArray<FixedRank> starting = starting_ranks(given, divisors.span(), options);
    std::copy(starting.begin(), starting.end(), ranks.data());
    offer_all();
  }

  std::uint64_t vertices() const { return divisors.size(); }
  std::uint64_t affected_size() const { return affected.size(); }
  RankUpdate update() const { return make_update(options, vertices()); }

  template <class Body>
  void for_all(Body&& body) const {
    parallel_blocks(threads, vertices(), kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t v = begin; v < end; ++v) body(static_cast<Vertex>(v));
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
    for (const EdgeChange& change : changes) {
      if (&change != changes.data() && (&change)[-1].source == change.source) continue;
      learn_source(graph, change.source);
      share(change.source);
    }
  }

  /// Initially affected: targets of deletions, new vertices, and the out-neighbours of every source whose
  /// list changed. Those before the batch are those after it and the targets of deletions.
  void mark(const Graph& graph, std::span<const EdgeChange> changes, std::uint64_t old_vertices,
            RankMethod method) {
    if (method == RankMethod::naive_dynamic) return affected.add_all();
    std::vector<Vertex> sources;
    for (const EdgeChange& change : changes) {
      if (change.removed > 0) affected.add(change.target);
      if (!sources.empty() && sources.back() == change.source) continue;
      sources.push_back(change.source);
      // Its own loop carries a part that depends on its degree.
      if (loops[change.source] == Loop::added) affected.add(change.source);
    }
    for (std::uint64_t v = old_vertices; v < vertices(); ++v) affected.add(static_cast<Vertex>(v));
    affected.add_neighbours(graph.out.view(), sources);
    if (method == RankMethod::dynamic_traversal) affected.add_reachable(graph.out.view());
  }

  /// As a vertex is worked on.
  RankVertices<Share> at(const CsrView& in) {
    return {in, ranks.data(), shares.data(), divisors.data(), loops.data()};
  }

  PageRankOptions options;
  unsigned threads;
  Buffer<FixedRank> ranks;                ///< unnormalised with Dangling::uniform
  Buffer<typename Share::Stored> shares;  ///< what out-neighbours were told
  HostArray<double> divisors;
  HostArray<Loop> loops;
  AffectedSet affected;
  FixedRank total = 0;  ///< the sum of ranks

 private:
  template <class T>
  static HostArray<T> grown(const HostArray<T>& old, std::uint64_t size, const char* purpose) {
    HostArray<T> array(size, purpose);
    std::copy(old.begin(), old.end(), array.begin());
    return array;
  }

  void learn_source(const Graph& graph, Vertex v) {
    at({}).learn_source(graph.out.view(), v, options.dangling);
  }
  void share(Vertex v) { at({}).share(v); }

  void offer_all() {
    for_all([&](Vertex v) { share(v); });
    total = sum_of({ranks.data(), ranks.size()});
  }

  void grow(const Graph& graph) {
    const std::uint64_t before = vertices(), after = graph.vertices();
    const RankGrowth growth(before, after, options.damping);
    const Buffer<FixedRank> old = std::move(ranks);
    ranks = Buffer<FixedRank>(device_, after, "ranks");
    shares = {};
    shares = Buffer<typename Share::Stored>(device_, after, "contributions");
    divisors = grown(divisors, after, "out-degrees");
    loops = grown(loops, after, "self-loops");
    affected = AffectedSet(after, threads);
    for (std::uint64_t v = before; v < after; ++v) learn_source(graph, static_cast<Vertex>(v));
    for_all([&](Vertex v) { ranks.data()[v] = growth(old.data(), v); });
    offer_all();
  }

  const Device& device_;
};

}  // namespace sluice
