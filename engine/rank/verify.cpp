#include "engine/rank/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"

namespace sluice {

namespace {

/// Rounding of one iteration and of the doubles here, in L1: the bounds of fixed_rank.hpp and share.hpp.
double rounding(const Graph& graph, const PageRankOptions& options) {
  const double sums = static_cast<double>(graph.vertices() + graph.edges()) * 0x1p-62 + 1e-12;
  return options.precision == RankPrecision::f32 ? sums + 0x1p-23 : sums;
}

struct OutList {
  const Graph& graph;
  Vertex vertex;
  bool weighted;

  double weight(EdgeIndex edge) const { return weighted ? graph.out.weights[edge] : 1.0; }
  template <class Use>
  void for_each(Use&& use) const {
    for (EdgeIndex i = graph.out.offsets[vertex]; i < graph.out.offsets[vertex + 1]; ++i)
      use(graph.out.targets[i], weight(i));
  }
};

/// The next iteration's ranks.
HostArray<double> pushed(const Graph& graph, const PageRankOptions& options, std::span<const double> ranks) {
  HostArray<double> next(ranks.size(), "verified ranks");
  std::fill(next.begin(), next.end(), 0.0);
  double dangling = 0;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    const OutList list{graph, static_cast<Vertex>(v), options.weighted};
    double total = 0;
    bool loop = options.dangling == Dangling::uniform;
    list.for_each([&](Vertex to, double weight) {
      total += weight;
      loop = loop || (to == v && weight > 0);
    });
    if (!loop) next[v] += ranks[v] / (total + 1);
    if (!loop) total += 1;
    if (total > 0) {
      list.for_each([&](Vertex to, double weight) { next[to] += ranks[v] * weight / total; });
    } else {
      dangling += ranks[v];
    }
  }
  const auto n = static_cast<double>(ranks.size());
  for (double& rank : next) rank = (1 - options.damping) / n + options.damping * (rank + dangling / n);
  return next;
}

}  // namespace

void verify_pagerank(const Graph& graph, const PageRankOptions& options, std::span<const double> ranks,
                     double last_l1) {
  if (graph.vertices() == 0) return;
  double sum = 0;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    if (!(ranks[v] >= 0 && ranks[v] <= 2))
      throw RunError(fmt::format("verify: the rank of vertex {} is {}", v, ranks[v]));
    sum += ranks[v];
  }
  const double allowed = rounding(graph, options);
  if (std::fabs(sum - 1) > allowed / (1 - options.damping))
    throw RunError(fmt::format("verify: ranks sum to {}", sum));
  const HostArray<double> next = pushed(graph, options, ranks);
  double change = 0;
  for (std::size_t v = 0; v < ranks.size(); ++v) change += std::fabs(next[v] - ranks[v]);
  if (change > options.damping * last_l1 + allowed) {
    throw RunError(fmt::format("verify: one more iteration changes ranks by {} in L1, after the last by {}",
                               change, last_l1));
  }
}

}  // namespace sluice
