// A temporal graph replayed: ranks follow it batch by batch, by each method, beside static ranks made anew.
// This is the experiment of Sahu's reports ("Efficient GPU Implementation of Static and Incrementally
// Expanding DF-P PageRank for Dynamic Graphs", 2024): the first edges in order of time make a graph, and the
// next ones come in consecutive batches of equal size.
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

/// Directed edges in order of time, wherever they are. The same pair may come again; it is one edge of the
/// graph.
class TemporalSource {
 public:
  virtual ~TemporalSource() = default;
  /// All are there from the beginning, as in the papers.
  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t size() const = 0;
  /// The ends of edges [first, first + source.size()).
  virtual void read(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const = 0;
};

/// Such edges in memory.
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

/// Where a replay keeps its graph; this one in memory.
class ReplayGraphs {
 public:
  virtual ~ReplayGraphs() = default;
  /// The graph of the first `count` edges, with in-edges.
  virtual Graph first(const TemporalSource& edges, std::uint64_t count, unsigned threads);
  /// What update_graph() made of it, as it is to be kept.
  virtual Graph keep(Graph graph) { return graph; }
};

struct ReplayOptions {
  double initial = 0.9;          ///< the part of the edges that the first graph holds
  double batch_fraction = 1e-4;  ///< a batch's edges, as a part of all; at least one
  std::uint32_t batches = 100;   ///< fewer, where edges end
  std::vector<pagerank::RankMethod> methods{
      pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
      pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
      pagerank::RankMethod::residual_frontier};
  pagerank::DynamicRankOptions rules;  ///< of all methods
  bool verify = false;                 ///< every method's ranks after every batch, as verify.hpp has it
};

/// Throws UsageError naming the option.
void validate(const ReplayOptions& options);

/// How a method did with a batch. The graph's own update is counted apart.
struct ReplayRun {
  pagerank::RankMethod method = pagerank::RankMethod::from_scratch;
  double seconds = 0;  ///< from the updated graph to ranks: marking, iterations; static: iterations alone
  std::uint32_t iterations = 0;
  bool converged = true;
  std::uint64_t initially_affected = 0;  ///< vertices
  std::uint64_t ever_affected = 0;       ///< vertices
  std::uint64_t gathered_edges = 0;
  std::uint64_t partitions_read = 1;               ///< of in-edges
  double update_seconds = 0, rewrite_seconds = 0;  ///< of a GPU's copy of the graph, and of its lists alone
  double linf = 0, l1 = 0;  ///< error against static ranks to 1e-14, or to what the precision allows
};

struct ReplayBatch {
  UpdateCounts counts;
  double update_seconds = 0;    ///< of the graph, both directions
  std::uint64_t edges = 0;      ///< of the graph after it
  std::vector<ReplayRun> runs;  ///< static, then the methods in their order
};

/// Methods of dynamic PageRank that follow one graph side by side, each from its own ranks of the batch
/// before, and static ranks beside them. Keeps references to all but `methods`.
class ReplayMethods {
 public:
  /// With `verify`, every method's ranks are checked after every batch, as verify.hpp has it. Errors are
  /// those against the batch's static ranks where none to 1e-14, `exact` ones, are made.
  ReplayMethods(const Device& device, const pagerank::Options& rank,
                std::vector<pagerank::DynamicRankOptions> methods, bool verify,
                const pagerank::RankPlace& place, bool exact = true);

  /// All begin with static ranks of the first graph.
  void begin(const Graph& graph);
  /// Static ranks, then those of the methods in their order. Throws RunError where ranks do not verify.
  void follow(const UpdateResult& update, ReplayBatch& report);

 private:
  HostArray<double> all_of(const pagerank::Result& result, const Graph& graph) const;
  HostArray<double> reference_ranks(const Graph& graph) const;
  /// Its ranks become `exact` where there are none.
  ReplayRun run_static(const Graph& graph, HostArray<double>& exact) const;
  ReplayRun run_dynamic(std::size_t m, const UpdateResult& update, std::span<const double> exact);

  const Device& device_;
  const pagerank::Options& rank_;
  std::vector<pagerank::DynamicRankOptions> methods_;
  bool verify_, exact_;
  const pagerank::RankPlace& place_;
  std::vector<pagerank::DynamicRanks> ranks_;  ///< [methods]
  std::vector<double> changes_;  ///< [methods] that an iteration would make to their ranks; to verify
};

/// Called after every batch; what it throws ends the replay.
using ReplayObserver = std::function<void(const ReplayBatch&)>;

/// How many edges the first graph is made of, and each batch.
struct ReplaySizes {
  ReplaySizes(const TemporalSource& edges, const ReplayOptions& options);
  std::uint64_t first = 0, batch = 0;
};

/// Replays. Each method goes on from its own ranks of the batch before, the first from static ranks. Ranks of
/// a job all have the edges and make the same call; what is reported is the same on all, but for times.
/// `graphs` says where the graph is; null: in memory. Throws UsageError for options out of range, BudgetError
/// where memory does not suffice, RunError where ranks do not verify.
void replay(const Device& device, const TemporalSource& edges, const pagerank::Options& rank,
            const ReplayOptions& options, const ReplayObserver& observer,
            const pagerank::RankPlace& place = {}, ReplayGraphs* graphs = nullptr);

}  // namespace sluice::bench
