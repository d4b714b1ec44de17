// What the backends of dynamic PageRank have in common: where they begin, and how iterations end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/router.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"

namespace sluice::pagerank {

/// Ranks in some place.
class DynamicRanks::State {
 public:
  virtual ~State() = default;
  /// Throws UsageError for what follow() cannot do here.
  virtual void validate(const DynamicRankOptions& options) const = 0;
  virtual DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes,
                                   const DynamicRankOptions& options, const RankObserver& observer) = 0;
  virtual void read_ranks(std::span<double> ranks) const = 0;
  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t own() const = 0;
  /// Of a run that is only planned: charges what follow() would, with a batch of this size, and says how
  /// lists come.
  virtual void plan(const Graph& graph, const UpdateSize& batch, Plan& plan) = 0;
};

/// Makes ranks of `graph` at `place`, from `ranks` that were given.
using MakeDynamicRanks = std::unique_ptr<DynamicRanks::State>(const Device& device, const Graph& graph,
                                                              std::span<const double> ranks,
                                                              const Options& options, const RankPlace& place);
/// Where it suits.
MakeDynamicRanks make_dynamic_ranks;
/// On a GPU, or on every rank's, that keeps a copy of the graph; the same bits.
MakeDynamicRanks make_whole_cuda_ranks;
/// What such a copy takes of the GPU, with ranks; and the space beside it for batches and new vertices,
/// which are not known when ranks begin.
std::uint64_t whole_cuda_bytes(const Device& device, const Graph& graph, const Options& options);
constexpr std::uint64_t space_for_batches(std::uint64_t whole_bytes) {
  return whole_bytes / 12 + (std::uint64_t{1} << 20);
}
/// On a GPU that has the graph in partitions, or the part of its rank; the same bits.
MakeDynamicRanks make_part_cuda_ranks;

/// What a store is asked for, and what follows from it.
struct BatchState {
  explicit BatchState(const Options& given) : options(given) {}

  RankMethod method() const { return dynamic.method; }
  bool residual() const { return method() == RankMethod::residual_frontier; }
  /// Whether every iteration makes a new list of members.
  bool drops() const { return drops_members(method()); }
  bool spreads() const { return spreads_changes(method()); }

  Options options;
  DynamicRankOptions dynamic;  ///< of the batch
  FixedRank total = 0;         ///< the sum of all ranks
};

/// What all ranks did in an iteration.
Settled total_of(const Router& peers, const Settled& own, RankNorm norm);

/// The in-edges, or their offsets where they are in a file; throws UsageError where a directed graph does not
/// store them. In a plan, where they are yet to be made, out-edges stand for them.
CsrView in_edges_of(const Graph& graph, bool weighted);
/// Those of vertices [first, last), and where they are.
SweepRows in_rows_of(const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last);

/// What is known of vertices [first, last) of a graph with their out-edges.
struct RankSources {
  HostArray<double> divisors;  ///< [last - first] among how much a vertex splits its rank
  HostArray<Loop> loops;       ///< [last - first]
};
/// Where `known` are those of vertices [first, first + some) of the graph before, and the others are new.
RankSources grown_sources(RankSources known, const Graph& graph, const Options& options, std::uint64_t first,
                          std::uint64_t last, unsigned threads);

/// [vertices] 1 where a vertex has nowhere to leave its rank and every rank depends on that
/// (Dangling::uniform), by the divisors of some vertices, the first of which is `first`.
HostArray<std::uint8_t> dangling_flags(const Options& options, std::uint64_t vertices, std::uint64_t first,
                                       std::span<const double> divisors);

/// From normalised ranks of all vertices to those of [first, last) that are solved for. Throws InputError for
/// ranks that are none.
HostArray<FixedRank> starting_ranks(std::span<const double> given, std::span<const std::uint8_t> dangling,
                                    const Options& options, std::uint64_t first, std::uint64_t last);

FixedRank sum_of(std::span<const FixedRank> ranks);

/// Of vertices whose lists changed, which ascend.
std::vector<RankSource> sources_of(const Graph& graph, const Options& options,
                                   std::span<const Vertex> vertices, unsigned threads);
/// The own ones among the sources of changes, each once.
std::vector<Vertex> changed_sources(std::span<const EdgeChange> changes, const Router& peers);

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

}  // namespace sluice::pagerank
