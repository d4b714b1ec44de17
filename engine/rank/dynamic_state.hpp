// The state that dynamic methods go on from, and what they have in common.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/rank/affected.hpp"
#include "engine/rank/change.hpp"
#include "engine/rank/divisor.hpp"
#include "engine/rank/dynamic.hpp"
#include "engine/rank/share.hpp"
#include "engine/rank/stall.hpp"

namespace sluice {

using RankClock = std::chrono::steady_clock;

inline double seconds_since(RankClock::time_point begin) {
  return std::chrono::duration<double>(RankClock::now() - begin).count();
}

/// Vertices that one thread works on at a time; fewer are not worth a thread's start.
inline constexpr std::uint64_t kVerticesAtOnce = 1024;

/// A vertex without a loop, with one in its lists, and with one that `self_loop` gave it.
enum class Loop : std::uint8_t { none, stored, added };

/// What a vertex gives to itself: a part of its sum, and of its rank.
struct OwnShare {
  FixedRank sum = 0;
  double part = 0;
};

/// Earlier ranks of other vertices may be too high for a while; no rank, and no sum, is above 1.
inline FixedRank at_most_one(FixedRank sum) {
  return std::min(sum, FixedRank{1} << kFixedRankBits);
}

/// ((1 - d) / n + d s) / (1 - d l), as the derivation in dynamic.hpp has it.
inline FixedRank closed_form(const RankUpdate& update, FixedRank sum, const OwnShare& own) {
  using namespace rank_detail;
  const double others = add(update.base, multiply(update.damping, from_fixed(at_most_one(sum - own.sum))));
  return to_fixed(std::min(divide(others, add(1, -multiply(update.damping, own.part))), 1.0));
}

/// |new - old| / max(new, old), of ranks or of contributions.
template <class T>
double relative_change(T before, T after) {
  const T larger = std::max(before, after), change = larger - std::min(before, after);
  return larger == 0 ? 0 : static_cast<double>(change) / static_cast<double>(larger);
}

/// What one iteration did.
struct Settled {
  RankChange change;
  FixedRank growth = 0;  ///< of the sum of all ranks, modulo 2^64
  std::uint64_t gathered = 0;

  void join(const Settled& other, RankNorm norm) {
    change.join(other.change, norm);
    growth += other.growth;
    gathered += other.gathered;
  }
};

/// Ranks, what vertices offer, and who is affected.
template <class Share>
class RankState {
 public:
  RankState(const Device& device, const Graph& graph, std::span<const double> given,
            const PageRankOptions& given_options)
      : options(given_options),
        threads(device.threads()),
        ranks(graph.vertices(), "ranks"),
        shares(graph.vertices(), "contributions"),
        divisors(graph.vertices(), "out-degrees"),
        loops(graph.vertices(), "self-loops"),
        affected(graph.vertices(), device.threads()) {
    for_all([&](Vertex v) { learn_source(graph, v); });
    start_from(given);
  }

  std::uint64_t vertices() const { return ranks.size(); }
  RankUpdate update() const {
    return {options.damping, (1 - options.damping) / static_cast<double>(vertices()), 0};
  }
  /// What ranks are divided by at the end.
  double scale() const { return options.dangling == Dangling::uniform && total > 0 ? from_fixed(total) : 1; }

  template <class Body>
  void for_all(Body&& body) const {
    parallel_blocks(threads, vertices(), kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t v = begin; v < end; ++v) body(static_cast<Vertex>(v));
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

  /// What the in-neighbours of v give to it by lists; a loop that it was given is in none.
  FixedRank gather(const CsrView& in, Vertex v) const {
    const EdgeIndex first = in.offsets[v];
    return pull<Share>(shares.data(), in.targets + first, Share::kWeighted ? in.weights + first : nullptr,
                       in.offsets[v + 1] - first);
  }

  /// What v gives to itself by loops in lists, and the part of its rank by any loop.
  OwnShare own_share(const CsrView& in, Vertex v) const {
    if (loops[v] == Loop::none) return {};
    if (loops[v] == Loop::added) return {0, 1 / divisors[v]};
    OwnShare own;
    const auto own_entries = std::equal_range(in.targets + in.offsets[v], in.targets + in.offsets[v + 1], v);
    for (const Vertex* loop = own_entries.first; loop != own_entries.second; ++loop) {
      const float weight = Share::kWeighted ? in.weights[loop - in.targets] : 1.0f;
      own.sum += Share::carried(shares[v], weight);
      own.part += weight;
    }
    own.part /= divisors[v];
    return own;
  }

  void share(Vertex v) { shares[v] = share_of<Share>(ranks[v], divisors[v]); }

  PageRankOptions options;
  unsigned threads;
  HostArray<FixedRank> ranks;                ///< unnormalised with Dangling::uniform
  HostArray<typename Share::Stored> shares;  ///< what out-neighbours were told
  HostArray<double> divisors;
  HostArray<Loop> loops;
  AffectedSet affected;
  FixedRank total = 0;  ///< the sum of ranks

 private:
  /// How far the sum of given ranks may be above 1: somebody else's may be single-precision ones.
  static constexpr double kSumSlack = 1e-3;

  template <class T>
  static HostArray<T> grown(const HostArray<T>& old, std::uint64_t size, const char* purpose) {
    HostArray<T> array(size, purpose);
    std::copy(old.begin(), old.end(), array.begin());
    return array;
  }

  void learn_source(const Graph& graph, Vertex v) {
    CsrView out = graph.out.view();
    if (!options.weighted) out.weights = nullptr;
    divisors[v] = out_weight(out, v, options.weighted);
    loops[v] = has_loop(out, v) ? Loop::stored : Loop::none;
    if (loops[v] == Loop::none && options.dangling == Dangling::self_loop) {
      loops[v] = Loop::added;
      divisors[v] += 1;
    }
  }

  /// From normalised ranks to those that are solved for.
  void start_from(std::span<const double> given) {
    double sum = 0, dangling = 0;  // in order of id, whatever the threads
    for (std::uint64_t v = 0; v < vertices(); ++v) {
      if (!(given[v] >= 0 && given[v] <= 1 + kSumSlack)) {
        throw InputError("earlier ranks: the rank of vertex " + std::to_string(v) + " is none");
      }
      sum += given[v];
      if (!(divisors[v] > 0)) dangling += given[v];
    }
    if (sum > 1 + kSumSlack) throw InputError("earlier ranks: they sum to more than 1");
    const double d = options.damping;
    const double factor = options.dangling == Dangling::uniform ? (1 - d) / ((1 - d) + d * dangling) : 1;
    set_all([&](Vertex v) { return given[v] * factor; });
  }

  template <class Rank>
  void set_all(Rank&& rank) {
    for_all([&](Vertex v) {
      ranks[v] = to_fixed(rank(v));
      share(v);
    });
    total = 0;
    for (const FixedRank value : ranks) total += value;
  }

  /// More vertices: all ranks shrink with 1 / n; new ones begin as if nothing pointed at them.
  void grow(const Graph& graph) {
    const std::uint64_t before = vertices(), after = graph.vertices();
    ranks = grown(ranks, after, "ranks");
    shares = HostArray<typename Share::Stored>(after, "contributions");
    divisors = grown(divisors, after, "out-degrees");
    loops = grown(loops, after, "self-loops");
    affected = AffectedSet(after, threads);
    for (std::uint64_t v = before; v < after; ++v) learn_source(graph, static_cast<Vertex>(v));
    const double ratio = static_cast<double>(before) / static_cast<double>(after);
    const double base = (1 - options.damping) / static_cast<double>(after);
    set_all([&](Vertex v) { return v < before ? from_fixed(ranks[v]) * ratio : base; });
  }
};

/// Makes iterations until ranks stand still; `step()` makes one with the affected vertices and leaves those
/// of the next.
template <class Share, class Step>
void iterate(RankState<Share>& state, const Graph& graph, DynamicRankResult& result,
             const RankObserver& observer, Step&& step) {
  const PageRankOptions& options = state.options;
  Stall stall(options, graph.edges(), graph.vertices());
  while (state.affected.size() > 0) {
    if (result.iterations == options.max_iterations) {
      result.end = RankEnd::limit;
      return;
    }
    const auto begin = RankClock::now();
    result.affected.push_back(state.affected.size());
    const Settled settled = step();
    state.total += settled.growth;
    result.gathered_edges += settled.gathered;
    result.residual = settled.change.norm(options.norm) / state.scale();
    result.history.push_back({++result.iterations, result.residual, seconds_since(begin)});
    if (observer) observer(result.history.back());
    if (result.residual <= options.tolerance) return;
    if (stall.seen(result.residual, settled.change.l1())) {
      result.end = RankEnd::stalled;
      return;
    }
  }
}

}  // namespace sluice
