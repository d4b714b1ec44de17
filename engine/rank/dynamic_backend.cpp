#include "engine/rank/dynamic_backend.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/core/error.hpp"
#include "engine/residency/page_map.hpp"

namespace sluice {

namespace {

/// How far the sum of given ranks may be above 1: somebody else's may be single-precision ones.
constexpr double kSumSlack = 1e-3;

}  // namespace

CsrView in_edges_of(const Graph& graph, bool weighted) {
  if (graph.directed && graph.in.offsets.empty() && graph.edges() > 0) {
    throw UsageError("dynamic PageRank needs in-edges beside the out-edges (sluice::transpose makes them)");
  }
  CsrView in = graph.directed && !graph.in.offsets.empty() ? graph.in.view() : graph.out.view();
  if (!weighted) in.weights = nullptr;
  return in;
}

HostArray<FixedRank> starting_ranks(std::span<const double> given, const CsrView& out,
                                    const PageRankOptions& options, std::uint64_t first, std::uint64_t last) {
  const auto dangles = [&](std::uint64_t v) {
    if (!options.weighted) return out.offsets[v] == out.offsets[v + 1];
    return std::all_of(out.weights + out.offsets[v], out.weights + out.offsets[v + 1],
                       [](float weight) { return !(weight > 0); });
  };
  double sum = 0, dangling = 0;  // in order of id, whatever the threads
  for (std::uint64_t v = 0; v < given.size(); ++v) {
    if (!(given[v] >= 0 && given[v] <= 1 + kSumSlack)) {
      throw InputError("earlier ranks: the rank of vertex " + std::to_string(v) + " is none");
    }
    sum += given[v];
    if (dangles(v)) dangling += given[v];
  }
  if (sum > 1 + kSumSlack) throw InputError("earlier ranks: they sum to more than 1");
  const double d = options.damping;
  const double factor = options.dangling == Dangling::uniform ? (1 - d) / ((1 - d) + d * dangling) : 1;
  HostArray<FixedRank> ranks(last - first, "ranks");
  for (std::uint64_t v = first; v < last; ++v) ranks[v - first] = to_fixed(given[v] * factor);
  return ranks;
}

RankSource source_of(const Graph& graph, const PageRankOptions& options, Vertex v) {
  RankSource source;
  const auto learn = [&](auto vertices) {
    vertices.divisors = moved(&source.divisor, v), vertices.loops = moved(&source.loop, v);
    vertices.learn_source(graph.out.view(), v, options.dangling);
  };
  options.weighted ? learn(RankVertices<WeightedShare>{}) : learn(RankVertices<EvenShare>{});
  return source;
}

FixedRank sum_of(std::span<const FixedRank> ranks) {
  return std::accumulate(ranks.begin(), ranks.end(), FixedRank{0});
}

}  // namespace sluice
