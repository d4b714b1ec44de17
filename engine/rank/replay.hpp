// A temporal graph replayed: ranks follow it batch by batch, by each method, beside static ranks made anew.
// This is the experiment of Sahu's reports ("Efficient GPU Implementation of Static and Incrementally
// Expanding DF-P PageRank for Dynamic Graphs", 2024): the first edges in order of time make a graph, and the
// next ones come in consecutive batches of equal size.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/rank/dynamic.hpp"
#include "engine/rank/options.hpp"
#include "partition/update.hpp"

namespace sluice {

/// Directed edges in order of time. The same pair may come again; it is one edge of the graph.
struct TemporalEdges {
  std::uint64_t vertices = 0;  ///< all are there from the beginning, as in the papers
  std::vector<Vertex> source, target;

  std::size_t size() const { return source.size(); }
};

struct ReplayOptions {
  double initial = 0.9;          ///< the part of the edges that the first graph holds
  double batch_fraction = 1e-4;  ///< a batch's edges, as a part of all; at least one
  std::uint32_t batches = 100;   ///< fewer, where edges end
  std::vector<RankMethod> methods{RankMethod::naive_dynamic, RankMethod::dynamic_traversal,
                                  RankMethod::dynamic_frontier, RankMethod::pruned_frontier,
                                  RankMethod::residual_frontier};
  double frontier_tolerance = 1e-6;
  double prune_tolerance = 1e-6;
};

/// Throws UsageError naming the option.
void validate(const ReplayOptions& options);

/// How a method did with a batch. The graph's own update is counted apart.
struct ReplayRun {
  RankMethod method = RankMethod::from_scratch;
  double seconds = 0;  ///< from the updated graph to ranks: marking, iterations; static: iterations alone
  std::uint32_t iterations = 0;
  bool converged = true;
  std::uint64_t initially_affected = 0;  ///< vertices
  std::uint64_t ever_affected = 0;       ///< vertices
  std::uint64_t gathered_edges = 0;
  double linf = 0, l1 = 0;  ///< error against static ranks to 1e-14, or to what the precision allows
};

struct ReplayBatch {
  UpdateCounts counts;
  double update_seconds = 0;         ///< of the graph, both directions
  double device_update_seconds = 0;  ///< of a GPU's copy, of which each method has one; 0 on the host
  std::uint64_t edges = 0;           ///< of the graph after it
  std::vector<ReplayRun> runs;       ///< static, then the methods in their order
};

/// Called after every batch; what it throws ends the replay.
using ReplayObserver = std::function<void(const ReplayBatch&)>;

/// Replays. Each method goes on from its own ranks of the batch before, the first from static ranks. Ranks of
/// a job all have the edges and make the same call; what is reported is the same on all, but for times.
/// Throws UsageError for options out of range, BudgetError where memory does not suffice.
void replay(const Device& device, const TemporalEdges& edges, const PageRankOptions& rank,
            const ReplayOptions& options, const ReplayObserver& observer, const RankPlace& place = {});

}  // namespace sluice
