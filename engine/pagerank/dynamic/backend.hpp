// The parts of dynamic PageRank that are the same for all backends: construction, and the totals of
// iterations.
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

/// The implementation of DynamicRanks by one backend.
class DynamicRanks::State {
 public:
  virtual ~State() = default;
  /// Throws UsageError for options that follow() does not support on this backend.
  virtual void validate(const DynamicRankOptions& options) const = 0;
  virtual DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes,
                                   const DynamicRankOptions& options, const RankObserver& observer) = 0;
  virtual void read_ranks(std::span<double> ranks) const = 0;
  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t own_rows() const = 0;
  /// In a plan: charges the memory that follow() would take for a batch of this size, and completes `plan`.
  virtual void plan(const Graph& graph, const UpdateSize& batch, Plan& plan) = 0;
};

/// Makes ranks of `graph` at `place`, beginning with the given `ranks`.
using MakeDynamicRanks = std::unique_ptr<DynamicRanks::State>(const Device& device, const Graph& graph,
                                                              std::span<const double> ranks,
                                                              const Options& options, const RankPlace& place);
/// By the backend that suits device, graph and place.
MakeDynamicRanks make_dynamic_ranks;
/// On a GPU, or on the GPU of every rank, that keeps a copy of the graph; the same bits.
MakeDynamicRanks make_whole_cuda_ranks;
/// GPU memory of such a copy and its ranks; and the memory beside it for batches and new vertices, whose size
/// is not known at the beginning.
std::uint64_t whole_cuda_bytes(const Device& device, const Graph& graph, const Options& options);
constexpr std::uint64_t batch_headroom(std::uint64_t whole_bytes) {
  return whole_bytes / 12 + (std::uint64_t{1} << 20);
}
/// On a GPU that brings partitions of the graph, or of its rank's part; the same bits.
MakeDynamicRanks make_part_cuda_ranks;

/// The totals of an iteration over all ranks of the job.
IterationTotals total_of(const Router& peers, const IterationTotals& own, RankNorm norm);

/// The in-edges, or only their offsets if they are in a file. Throws UsageError if a directed graph does not
/// store them. In a plan, out-edges stand for in-edges that are not made yet.
CsrView in_edges_of(const Graph& graph, bool weighted);
/// The in-edges of vertices [first, last), in memory or in a file.
SweepRows in_rows_of(const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last);

/// Divisors and self-loops of vertices [first, last), which their out-edges determine.
struct RankSources {
  HostArray<double> divisors;  ///< [last - first] see RankSource
  HostArray<Loop> loops;       ///< [last - first]
};
/// For vertices [first, last), of which the first are `previous` from the graph before; finds the others.
RankSources extend_sources(RankSources previous, const Graph& graph, const Options& options,
                           std::uint64_t first, std::uint64_t last, unsigned threads);

/// [vertices] With Dangling::uniform 1 for a dangling vertex, else empty. `divisors` are of some vertices,
/// from `first` on; flags of others are not set.
HostArray<std::uint8_t> dangling_flags(const Options& options, std::uint64_t vertices, std::uint64_t first,
                                       std::span<const double> divisors);

/// Converts normalised ranks of all vertices to the vector that is solved for (y of dynamic.hpp), for [first,
/// last). Throws InputError for invalid ranks.
HostArray<FixedRank> starting_ranks(std::span<const double> given, std::span<const std::uint8_t> dangling,
                                    const Options& options, std::uint64_t first, std::uint64_t last);

/// Divisors and self-loops of vertices whose lists changed, in ascending order.
std::vector<RankSource> sources_of(const Graph& graph, const Options& options,
                                   std::span<const Vertex> vertices, unsigned threads);
/// This rank's vertices among the sources of changes, each once.
std::vector<Vertex> changed_sources(std::span<const EdgeChange> changes, const Router& peers);

/// The divisor that normalises ranks which sum to `total`.
SLUICE_HD double rank_scale(Dangling dangling, FixedRank total) {
  return dangling == Dangling::uniform && total > 0 ? from_fixed(total) : 1;
}

/// The residual of an iteration after which ranks sum to `total`.
SLUICE_HD double residual_of(const IterationTotals& totals, RankNorm norm, Dangling dangling,
                             FixedRank total) {
  return totals.change.norm(norm) / rank_scale(dangling, total);
}

/// Ranks after vertices were added: old ranks shrink with 1 / n; new ones begin as if they had no in-edges.
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
