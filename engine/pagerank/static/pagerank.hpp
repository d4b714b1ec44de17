// PageRank.
//
// The method is the static one of Sahu's GPU reports ("Efficient GPU Implementation of Static and
// Incrementally Expanding DF-P PageRank for Dynamic Graphs", 2024): synchronous (Jacobi) iterations from
// equal ranks, pull-based and free of atomics. Beyond them: sums are exact integers (fixed_rank.hpp), so
// ranks and the number of iterations are the same, bit for bit, on the host and on a GPU, for any threads,
// ranks and partitions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

/// One iteration, as it is reported.
struct RankIteration {
  std::uint32_t number = 0;  ///< the first is 1
  double residual = 0;       ///< the change it made, in the norm asked for
  double seconds = 0;
};

/// Called after every iteration; what it throws ends the run.
using RankObserver = std::function<void(const RankIteration&)>;

enum class RankEnd {
  converged,  ///< the last change is within the tolerance
  limit,      ///< max_iterations came first
  stalled,    ///< the precision does not allow the tolerance: changes no longer shrink
};

/// What iterations came to, from scratch or after a batch.
struct RankRun {
  std::uint32_t iterations = 0;
  double residual = 0;  ///< of the last iteration; 0 where nothing was affected
  double last_l1 = 0;   ///< the same in L1, which every further iteration shrinks by the damping at least
  RankEnd end = RankEnd::converged;
  std::vector<RankIteration> history;  ///< [iterations]
  double setup_seconds = 0;            ///< all that has to be there before the first
  double compute_seconds = 0;          ///< the iterations
  std::uint64_t gathered_edges = 0;    ///< contributions gathered, or pushed, by all ranks of the job
  Traffic traffic;

  bool converged() const { return end == RankEnd::converged; }
};

struct Result : RankRun {
  /// Of all vertices, which sum to 1, or of those of this rank of the job, beginning with `first`.
  HostArray<double> ranks;
  std::uint64_t first = 0;
  SweepKernels kernels;
};

/// Ranks of all vertices: r = (1 - d) / n + d (sum over in-neighbours u of r(u) / outdegree(u) + dangling /
/// n).
///
/// In-edges are `graph.in` where stored, `graph.out` itself where the graph is undirected, else a transpose
/// that is made here (12 to 16 bytes an edge of host memory while it is made). Parallel edges count as often
/// as they are there. Not converging is no error: `end` says so. A graph without vertices has no ranks and
/// converges at once. In-edges that exceed what the device has left beside ranks and contributions are
/// brought in partitions every iteration, from host memory or, where the graph's edges are elsewhere, from
/// its file; a GPU that can hold those of its rank reads them from the file once. Of several ranks of a
/// job each renews a range of vertices of about equally many in-edges, and has all contributions. Throws
/// UsageError for options out of range, BudgetError where memory does not suffice.
Result run_pagerank(const Device& device, const Graph& graph, const Options& options = {},
                    const RankObserver& observer = {}, const RankPlace& place = {});

/// The ranks of all vertices: `own` from vertex `first` on, and the other ranks' theirs. All of `ranks` call
/// it (null: this one alone).
HostArray<double> all_ranks(std::span<const double> own, std::uint64_t first, std::uint64_t vertices,
                            Communicator* ranks);

/// What a run would take beside the graph as it was read, on one rank of the job.
struct Plan {
  std::uint64_t device_bytes = 0;   ///< at least: `state_bytes` and in-edges, or two partitions of them
  std::uint64_t state_bytes = 0;    ///< ranks, contributions, and on a GPU what is known of the rows
  std::uint64_t host_bytes = 0;     ///< in-edges while they are made, degrees, the result; on the host all
  std::uint64_t partitions = 1;     ///< that in-edges would be brought in, about
  std::uint64_t brought_bytes = 0;  ///< in an iteration, at most
  bool exact_on_ranks = false;      ///< are these of this rank's own rows, or of an even share?
};
/// The graph will have `added` vertices more by then.
Plan plan_pagerank(const Device& device, const Graph& graph, const Options& options,
                   const RankPlace& place = {}, std::uint64_t added = 0);

}  // namespace sluice::pagerank
