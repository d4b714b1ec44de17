#include "engine/pagerank/dynamic/backend.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/core/error.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/static/sweep_totals.hpp"
#include "partition/list_reader.hpp"

namespace sluice::pagerank {

namespace {

/// How far the sum of given ranks may exceed 1: other programs may compute them in single precision.
constexpr double kSumSlack = 1e-3;

}  // namespace

IterationTotals total_of(const Router& peers, const IterationTotals& own, RankNorm norm) {
  if (peers.is_single_rank()) return own;
  std::array<std::uint64_t, 3> counts{own.growth, own.gathered, own.pushed};
  const RankChange change = total_of(peers.ranks(), own.change, norm, counts);
  return {change, counts[0], counts[1], counts[2]};
}

CsrView in_edges_of(const Graph& graph, bool weighted) {
  require_stored_in_edges(graph);
  if (graph.directed && graph.in.offsets.empty() && graph.edges() > 0 && !host_budget().counts_only()) {
    throw UsageError(
        "dynamic PageRank needs in-edges as well as out-edges (sluice::transpose computes them)");
  }
  CsrView in = graph.directed && !graph.in.offsets.empty() ? graph.in.view() : graph.out.view();
  if (!weighted) in.weights = nullptr;
  return in;
}

SweepRows in_rows_of(const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last) {
  SweepRows rows =
      SweepRows::of(in_edges_of(graph, weighted),
                    (graph.directed ? graph.in_edge_source : graph.edge_source).get(), weighted, first, last);
  if (graph.directed && graph.in.offsets.empty())
    rows.max_degree = std::min(graph.vertices(), graph.edges());  // at most
  return rows;
}

RankSources extend_sources(RankSources previous, const Graph& graph, const Options& options,
                           std::uint64_t first, std::uint64_t last, unsigned threads) {
  const std::uint64_t before = previous.loops.size();
  RankSources added{HostArray<double>(last - first - before, "out-degrees"),
                    HostArray<Loop>(last - first - before, "self-loops")};
  if (!host_budget().counts_only())
    find_sources(graph, options, first + before, threads, added.divisors.span(), added.loops.span());
  const auto join = [&](auto& column, const auto& added_values, const char* purpose) {
    std::remove_reference_t<decltype(column)> all(last - first, purpose);
    if (!host_budget().counts_only()) {
      std::copy(column.begin(), column.end(), all.begin());
      std::copy(added_values.begin(), added_values.end(), all.begin() + before);
    }
    column = std::move(all);
  };
  join(previous.divisors, added.divisors, "out-degrees");
  join(previous.loops, added.loops, "self-loops");
  return previous;
}

std::vector<RankSource> sources_of(const Graph& graph, const Options& options,
                                   std::span<const Vertex> vertices, unsigned threads) {
  std::vector<RankSource> sources(vertices.size());
  out_lists(graph, options.weighted, threads)
      .for_each(vertices, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          sources[i] = source_of(lists, vertices[i], vertices[i], options.weighted, options.dangling);
      });
  return sources;
}

std::vector<Vertex> changed_sources(std::span<const EdgeChange> changes, const Router& peers) {
  std::vector<Vertex> changed;
  for (const EdgeChange& change : changes) {
    if (!peers.owns(change.source) || (!changed.empty() && changed.back() == change.source)) continue;
    changed.push_back(change.source);
  }
  return changed;
}

HostArray<std::uint8_t> dangling_flags(const Options& options, std::uint64_t vertices, std::uint64_t first,
                                       std::span<const double> divisors) {
  if (options.dangling != Dangling::uniform) return {};
  HostArray<std::uint8_t> flags(vertices, "flags of dangling vertices");
  if (host_budget().counts_only()) return flags;
  for (std::uint64_t i = 0; i < divisors.size(); ++i) flags[first + i] = !(divisors[i] > 0);
  return flags;
}

HostArray<FixedRank> starting_ranks(std::span<const double> given, std::span<const std::uint8_t> is_dangling,
                                    const Options& options, std::uint64_t first, std::uint64_t last) {
  HostArray<FixedRank> ranks(last - first, "ranks");
  if (host_budget().counts_only()) return ranks;
  double sum = 0, dangling = 0;  // in order of id, whatever the threads
  for (std::uint64_t v = 0; v < given.size(); ++v) {
    if (!(given[v] >= 0 && given[v] <= 1 + kSumSlack)) {
      throw InputError("earlier ranks: the rank of vertex " + std::to_string(v) + " is not between 0 and 1");
    }
    sum += given[v];
    if (!is_dangling.empty() && is_dangling[v] != 0) dangling += given[v];
  }
  if (sum > 1 + kSumSlack) throw InputError("earlier ranks: they sum to more than 1");
  const double d = options.damping;
  const double factor = options.dangling == Dangling::uniform ? (1 - d) / ((1 - d) + d * dangling) : 1;
  for (std::uint64_t v = first; v < last; ++v) ranks[v - first] = to_fixed(given[v] * factor);
  return ranks;
}

}  // namespace sluice::pagerank
