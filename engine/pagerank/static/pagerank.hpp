// PageRank.
//
// The method is the static one of Sahu's GPU reports ("Efficient GPU Implementation of Static and
// Incrementally Expanding DF-P PageRank for Dynamic Graphs", 2024): synchronous (Jacobi) iterations from
// equal ranks, pull-based and free of atomics. Beyond the reports, sums are exact integers (fixed_rank.hpp).
// So ranks and the number of iterations are the same, bit for bit, on the host and on a GPU, for any threads,
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

/// The report of one iteration.
struct RankIteration {
  std::uint32_t number = 0;  ///< the first is 1
  double residual = 0;       ///< the iteration's change, in Options::norm
  double seconds = 0;
};

/// Called after every iteration; an exception from it ends the run.
using RankObserver = std::function<void(const RankIteration&)>;

enum class RankEnd {
  converged,  ///< the last change is within the tolerance
  limit,      ///< max_iterations was reached first
  stalled,    ///< the precision does not allow the tolerance: changes no longer shrink
};

/// The outcome of iterations, from scratch or after a batch.
struct RankRun {
  std::uint32_t iterations = 0;
  double residual = 0;  ///< of the last iteration; 0 if no vertex was affected
  double last_l1 = 0;   ///< that change in L1; each further iteration shrinks it at least by the damping
  RankEnd end = RankEnd::converged;
  std::vector<RankIteration> history;  ///< [iterations]
  double setup_seconds = 0;            ///< everything before the first iteration
  double compute_seconds = 0;          ///< the iterations
  std::uint64_t gathered_edges = 0;    ///< contributions gathered, or pushed, by all ranks of the job
  Traffic traffic;

  bool converged() const { return end == RankEnd::converged; }
};

struct Result : RankRun {
  /// Ranks of all vertices, or of this rank's, from vertex `first` on. Those of all vertices sum to 1.
  HostArray<double> ranks;
  std::uint64_t first = 0;
  SweepKernels kernels;
};

/// Ranks of all vertices: r = (1 - d) / n + d (sum over in-neighbours u of r(u) / outdegree(u) + dangling /
/// n).
///
/// In-edges are `graph.in` if stored, `graph.out` if the graph is undirected, else a transpose that this call
/// makes (12 to 16 bytes of host memory an edge meanwhile). Parallel edges count separately. Not converging
/// is no error; see `end`. A graph without vertices has no ranks and converges at once. If in-edges exceed
/// the memory that the device has left beside ranks and contributions, every iteration brings them in
/// partitions, from host memory or the graph's file; a GPU that can hold its rank's in-edges reads them from
/// the file once. Each rank of a job updates a range of vertices with about equally many in-edges, and holds
/// all contributions. Throws UsageError for options out of range, BudgetError if memory does not suffice.
Result run_pagerank(const Device& device, const Graph& graph, const Options& options = {},
                    const RankObserver& observer = {}, const RankPlace& place = {});

/// The ranks of all vertices, gathered from the ranks of the job. `own` are this one's, from vertex `first`
/// on. All of `ranks` call it (null: this process alone).
HostArray<double> all_ranks(std::span<const double> own, std::uint64_t first, std::uint64_t vertices,
                            Communicator* ranks);

/// Memory that a run would take beside the graph as it was read, on one rank of the job.
struct Plan {
  std::uint64_t device_bytes = 0;   ///< minimum: `state_bytes` and in-edges, or two partitions of them
  std::uint64_t state_bytes = 0;    ///< ranks, contributions, and on a GPU degrees and offsets of rows
  std::uint64_t host_bytes = 0;     ///< transpose, degrees, result; without a GPU everything
  std::uint64_t partitions = 1;     ///< of in-edges, approximately
  std::uint64_t transferred_bytes = 0;  ///< maximum of one iteration
  bool exact_on_ranks = false;      ///< for this rank's own rows; false: for an even share
};
/// Plans run_pagerank() for the graph with `added` more vertices.
Plan plan_pagerank(const Device& device, const Graph& graph, const Options& options,
                   const RankPlace& place = {}, std::uint64_t added = 0);

}  // namespace sluice::pagerank
