// The iterations of static PageRank on one backend, the host or a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/traffic.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/static/sweep_totals.hpp"

namespace sluice {
class DeviceRanks;
}

namespace sluice::pagerank {

/// Where and how a sweep runs; changes no result.
struct RankPlace {
  PagingOptions paging{};         ///< partitions of in-edges; `shard` is ignored
  Communicator* ranks = nullptr;  ///< ranks of the job, which all make the same call; null: one process
  RankRows rows = RankRows::automatic;
  /// Pieces in which a rank sweeps sliced rows, if each rank has a GPU. The contributions of one piece are
  /// sent while the next is swept, so 1 overlaps nothing; 0: kDefaultPieces, at most kMaxPieces
  /// (sweep_pieces.hpp).
  unsigned pieces = 0;
  RankFusion fusion = RankFusion::automatic;
  /// Link between the ranks' GPUs, unused by sliced rows; null: made if the GPUs can be connected.
  DeviceRanks* link = nullptr;
};

/// The kernel of iterations on a GPU, if one kernel sweeps all rows; else zeros.
struct SweepKernels {
  unsigned registers = 0;  ///< of one thread
  std::uint64_t launches = 0;
};

/// Vertex state and the sweep over in-edges that updates it. It is synchronous and pull-based: one thread
/// writes each vertex, without atomics.
class Sweep {
 public:
  virtual ~Sweep() = default;
  /// Makes the next iteration; the first starts from equal ranks. Returns its change over all ranks of the
  /// job.
  virtual RankChange step() = 0;
  /// Seconds of the last iteration, if several were made before step() returned the first of them; else none.
  virtual std::optional<double> seconds() const { return std::nullopt; }
  /// Ranks of this job rank's vertices after the last iteration that step() returned, normalised so that
  /// those of all vertices sum to 1. step() must not be called afterwards.
  virtual void read_ranks(std::span<double> ranks) = 0;
  virtual Traffic traffic() const { return {}; }
  virtual SweepKernels kernels() const { return {}; }
  /// In a plan: the least device memory for in-edges.
  virtual std::uint64_t planned_list_bytes() const { return 0; }
};

/// Makes a sweep by `ranks`, which are place.ranks, or this process alone.
using MakeSweep = std::unique_ptr<Sweep>(const Device& device, const RankGraph& graph, const Options& options,
                                         const RankPlace& place, Communicator& ranks);
/// On the host's threads. Keeps references. Throws BudgetError if the state does not fit.
MakeSweep make_host_sweep;
/// On a GPU; the same bits. When step() returns an iteration the next is already under way, unless that needs
/// the host (for partitions or totals of other ranks); or one kernel has made several. Throws UsageError if
/// sliced rows are asked for but not possible.
MakeSweep make_cuda_sweep;

/// The update of an iteration, before the rank of dangling vertices is spread.
RankUpdate make_update(const Options& options, std::uint64_t vertices);

}  // namespace sluice::pagerank
