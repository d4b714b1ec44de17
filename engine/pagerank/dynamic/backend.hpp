// What the backends of dynamic PageRank have in common: where they begin, and how iterations end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/change_exchange.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"
#include "engine/pagerank/stall.hpp"

namespace sluice {

using RankClock = std::chrono::steady_clock;

inline double seconds_since(RankClock::time_point begin) {
  return std::chrono::duration<double>(RankClock::now() - begin).count();
}

/// Ranks on some backend.
class DynamicRanks::State {
 public:
  virtual ~State() = default;
  virtual DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes,
                                   const DynamicRankOptions& options, const RankObserver& observer) = 0;
  virtual void read_ranks(std::span<double> ranks) const = 0;
  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t first() const { return 0; }
  virtual std::uint64_t own() const { return vertices(); }
};

/// On a GPU; the same bits. Keeps a copy of the graph there.
std::unique_ptr<DynamicRanks::State> make_cuda_dynamic_ranks(const Device& device, const Graph& graph,
                                                             std::span<const double> ranks,
                                                             const PageRankOptions& options);

/// On a GPU that has the graph in partitions, or on one of a job's GPUs; the same bits.
std::unique_ptr<DynamicRanks::State> make_cuda_owned_ranks(const Device& device, const Graph& graph,
                                                           std::span<const double> ranks,
                                                           const PageRankOptions& options,
                                                           const RankPlace& place);

/// The in-edges, or their offsets where they are in a file; throws UsageError where a directed graph does not
/// store them.
CsrView in_edges_of(const Graph& graph, bool weighted);
/// Those of vertices [first, last), and where they are.
SweepRows in_rows_of(const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last);

/// What is known of vertices [first, last) of a graph with their out-edges.
struct RankSources {
  HostArray<double> divisors;  ///< [last - first] among how much a vertex splits its rank
  HostArray<Loop> loops;       ///< [last - first]
};
RankSources sources_of(const Graph& graph, const PageRankOptions& options, std::uint64_t first,
                       std::uint64_t last, unsigned threads);

/// The same where `known` are those of vertices [first, first + some) of the graph before, and the others are
/// new.
RankSources grown_sources(RankSources known, const Graph& graph, const PageRankOptions& options,
                          std::uint64_t first, std::uint64_t last, unsigned threads);

/// [vertices] 1 where a vertex has nowhere to leave its rank and every rank depends on that
/// (Dangling::uniform), by the divisors of own vertices; all ranks call it.
HostArray<std::uint8_t> dangling_flags(const PageRankOptions& options, ChangeExchange& peers,
                                       std::span<const double> divisors);

/// From normalised ranks of all vertices to those of [first, last) that are solved for. Throws InputError for
/// ranks that are none.
HostArray<FixedRank> starting_ranks(std::span<const double> given, std::span<const std::uint8_t> dangling,
                                    const PageRankOptions& options, std::uint64_t first, std::uint64_t last);

FixedRank sum_of(std::span<const FixedRank> ranks);

/// Among how much a source splits its rank, and its loop.
struct RankSource {
  double divisor = 0;
  Loop loop = Loop::none;
};
/// Of vertices whose lists changed, which ascend.
std::vector<RankSource> sources_of(const Graph& graph, const PageRankOptions& options,
                                   std::span<const Vertex> vertices, unsigned threads);
/// The own ones among the sources of changes, each once.
std::vector<Vertex> changed_sources(std::span<const EdgeChange> changes, const ChangeExchange& peers);

/// What ranks that sum to `total` are divided by at the end.
SLUICE_HD double rank_scale(Dangling dangling, FixedRank total) {
  return dangling == Dangling::uniform && total > 0 ? from_fixed(total) : 1;
}

/// Of an iteration that left ranks which sum to `total`.
SLUICE_HD double residual_of(const Settled& settled, RankNorm norm, Dangling dangling, FixedRank total) {
  return settled.change.norm(norm) / rank_scale(dangling, total);
}

/// A rank as it is handed out.
inline double scaled_rank(FixedRank rank, double scale) {
  return from_fixed(to_fixed(from_fixed(rank) / scale));
}

/// More vertices: all ranks shrink with 1 / n; new ones begin as if nothing pointed at them.
struct RankGrowth {
  std::uint64_t before = 0;
  double ratio = 1, base = 0;

  RankGrowth(std::uint64_t old_vertices, std::uint64_t vertices, double damping)
      : before(old_vertices),
        ratio(static_cast<double>(old_vertices) / static_cast<double>(vertices)),
        base((1 - damping) / static_cast<double>(vertices)) {}

  SLUICE_HD FixedRank operator()(const FixedRank* ranks, std::uint64_t v) const {
    return to_fixed(v < before ? rank_detail::multiply(from_fixed(ranks[v]), ratio) : base);
  }
};

/// Makes iterations until ranks stand still; `step()` makes one with the affected vertices and leaves those
/// of the next. Solvers have options, affected_size(), total, and vertices().
template <class Solver, class Step>
void iterate(Solver& solver, std::uint64_t edges, DynamicRankResult& result, const RankObserver& observer,
             Step&& step) {
  const PageRankOptions& options = solver.options;
  Stall stall(options, edges, solver.vertices());
  while (solver.affected_size() > 0) {
    if (result.iterations == options.max_iterations) {
      result.end = RankEnd::limit;
      return;
    }
    const auto begin = RankClock::now();
    result.affected.push_back(solver.affected_size());
    const Settled settled = step();
    solver.total += settled.growth;
    result.gathered_edges += settled.gathered;
    result.residual = residual_of(settled, options.norm, options.dangling, solver.total);
    result.last_l1 = settled.change.l1() / rank_scale(options.dangling, solver.total);
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
