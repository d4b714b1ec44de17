// Replays a temporal graph: each method updates the ranks batch by batch, compared with static ranks from
// scratch. This is the experiment of Sahu's reports ("Efficient GPU Implementation of Static and
// Incrementally Expanding DF-P PageRank for Dynamic Graphs", 2024): the first edges in order of time form a
// graph, and the next ones are inserted in consecutive batches of equal size.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/options.hpp"
#include "partition/update.hpp"

namespace sluice::bench {

/// Directed edges in order of time, in memory or in a file. A pair may occur repeatedly; it is one edge of
/// the graph.
class TemporalSource {
 public:
  virtual ~TemporalSource() = default;
  /// All vertices exist from the beginning, as in the papers.
  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Reads the ends of edges [first, first + source.size()).
  virtual void read(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const = 0;
};

/// Temporal edges in memory.
struct TemporalEdges final : TemporalSource {
  TemporalEdges() = default;
  TemporalEdges(std::uint64_t vertices, std::vector<Vertex> sources, std::vector<Vertex> targets)
      : vertex_count(vertices), source(std::move(sources)), target(std::move(targets)) {}

  std::uint64_t vertices() const override { return vertex_count; }
  std::uint64_t size() const override { return source.size(); }
  void read(std::uint64_t first, std::span<Vertex> sources, std::span<Vertex> targets) const override;

  std::uint64_t vertex_count = 0;
  std::vector<Vertex> source, target;
};

/// Where a replay keeps its graph; this class keeps it in memory.
class ReplayGraphs {
 public:
  virtual ~ReplayGraphs() = default;
  /// The graph of the first `count` edges, with in-edges.
  virtual Graph first(const TemporalSource& edges, std::uint64_t count, unsigned threads);
  /// Takes the graph that update_graph() returned, and returns it as it is to be kept.
  virtual Graph store(Graph graph) { return graph; }
};

struct ReplayOptions {
  double initial = 0.9;          ///< part of the edges in the first graph
  double batch_fraction = 1e-4;  ///< a batch's edges, as a part of all; at least one
  std::uint32_t batches = 100;   ///< fewer, if the edges end before
  std::vector<pagerank::RankMethod> methods{
      pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
      pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
      pagerank::RankMethod::residual_frontier};
  pagerank::DynamicRankOptions rules;  ///< for all methods
  bool verify = false;                 ///< check every method's ranks after every batch (verify.hpp)
};

/// Throws UsageError naming the option.
void validate(const ReplayOptions& options);

/// The result of a method for a batch. The update of the graph is counted separately.
struct ReplayRun {
  pagerank::RankMethod method = pagerank::RankMethod::from_scratch;
  double seconds = 0;  ///< marking and iterations on the updated graph; static: iterations alone
  std::uint32_t iterations = 0;
  bool converged = true;
  std::uint64_t initially_affected = 0;  ///< vertices
  std::uint64_t ever_affected = 0;       ///< vertices
  std::uint64_t gathered_edges = 0;
  std::uint64_t partitions_read = 1;               ///< of in-edges
  double update_seconds = 0, rewrite_seconds = 0;  ///< of a GPU's copy of the graph; of its lists alone
  double linf = 0, l1 = 0;  ///< error against static ranks to 1e-14, or to the limit of the precision
};

struct ReplayBatch {
  UpdateCounts counts;
  double update_seconds = 0;    ///< of the graph, both directions
  std::uint64_t edges = 0;      ///< of the graph after the batch
  std::vector<ReplayRun> runs;  ///< static, then the methods in order
};

/// Methods of dynamic PageRank that follow one graph side by side, each from its own ranks of the previous
/// batch, and static ranks compared with them. Keeps references to all arguments but `methods`.
class ReplayMethods {
 public:
  /// With `verify`, every method's ranks are checked after every batch (verify.hpp). If `exact`, errors are
  /// against static ranks to 1e-14, else against the batch's static ranks.
  ReplayMethods(const Device& device, const pagerank::Options& rank,
                std::vector<pagerank::DynamicRankOptions> methods, bool verify,
                const pagerank::RankPlace& place, bool exact = true);

  /// All methods begin with static ranks of the first graph.
  void begin(const Graph& graph);
  /// Runs static PageRank, then the methods in order. Throws RunError if ranks do not verify.
  void follow(const UpdateResult& update, ReplayBatch& report);

 private:
  HostArray<double> all_of(const pagerank::Result& result, const Graph& graph) const;
  HostArray<double> reference_ranks(const Graph& graph) const;
  /// If there are no exact ranks, stores its ranks in `exact`.
  ReplayRun run_static(const Graph& graph, HostArray<double>& exact) const;
  ReplayRun run_dynamic(std::size_t m, const UpdateResult& update, std::span<const double> exact);

  const Device& device_;
  const pagerank::Options& rank_;
  std::vector<pagerank::DynamicRankOptions> methods_;
  bool verify_, exact_;
  const pagerank::RankPlace& place_;
  std::vector<pagerank::DynamicRanks> ranks_;  ///< [methods]
  std::vector<double> changes_;                ///< [methods] change of their ranks by an iteration, to verify
};

/// Called after every batch; an exception ends the replay.
using ReplayObserver = std::function<void(const ReplayBatch&)>;

/// The number of edges in the first graph, and in each batch.
struct ReplaySizes {
  ReplaySizes(const TemporalSource& edges, const ReplayOptions& options);
  std::uint64_t first = 0, batch = 0;
};

/// Replays a graph. Each method continues from its own ranks of the previous batch, at first from static
/// ranks. All ranks of a job have the edges and make the same call; reports differ only in times. `graphs`
/// keeps the graph; null: in memory. Throws UsageError for options out of range, BudgetError if memory is
/// insufficient, RunError if ranks do not verify.
void replay(const Device& device, const TemporalSource& edges, const pagerank::Options& rank,
            const ReplayOptions& options, const ReplayObserver& observer,
            const pagerank::RankPlace& place = {}, ReplayGraphs* graphs = nullptr);

}  // namespace sluice::bench
