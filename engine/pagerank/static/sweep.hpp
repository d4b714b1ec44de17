// One static PageRank iteration after the other, on some backend.
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

/// Where the work is done; changes no result.
struct RankPlace {
  PagingOptions paging{};         ///< in-edges in partitions; `shard` is not looked at
  Communicator* ranks = nullptr;  ///< the job's ranks, which all make the same call; null: this one alone
  RankRows rows = RankRows::automatic;
  /// In which a rank sweeps its rows where ranks have a GPU each and sliced rows: what one gives is sent
  /// while the next is swept, so that 1 overlaps nothing; 0: as many as pay, up to kMostPieces
  /// (sweep_pieces.hpp).
  unsigned pieces = 0;
  RankFusion fusion = RankFusion::automatic;
  /// Between the GPUs of ranks, but where these sweep sliced rows; null: made where GPUs can be connected.
  DeviceRanks* link = nullptr;
};

/// Of iterations on a GPU where one kernel sweeps all rows; else none.
struct SweepKernels {
  unsigned registers = 0;  ///< that a thread of it holds
  std::uint64_t launches = 0;
};

/// Vertex state and the sweep over in-edges that renews it: synchronous and pull-based, so that every vertex
/// is written by one thread and nothing is atomic.
class Sweep {
 public:
  virtual ~Sweep() = default;
  /// Makes the next iteration, the first from equal ranks. Returns what it changed, on all ranks of the job.
  virtual RankChange step() = 0;
  /// Seconds of the last iteration, where several were made before step() returned the first of them.
  virtual std::optional<double> seconds() const { return std::nullopt; }
  /// Ranks of this job rank's vertices after the last iteration that step() returned, normalised so that
  /// those of all vertices sum to 1. No step() follows.
  virtual void read_ranks(std::span<double> ranks) = 0;
  virtual Traffic traffic() const { return {}; }
  virtual SweepKernels kernels() const { return {}; }
  /// Of a run that is only planned: what in-edges take of the device at least.
  virtual std::uint64_t planned_list_bytes() const { return 0; }
};

/// By `ranks`, who are those of the place, or this one alone.
using MakeSweep = std::unique_ptr<Sweep>(const Device& device, const RankGraph& graph, const Options& options,
                                         const RankPlace& place, Communicator& ranks);
/// On the host's threads. References are kept. Throws BudgetError where the state does not fit.
MakeSweep make_host_sweep;
/// On a GPU; the same bits. While step() returns one iteration the next is under way already, where nothing
/// has to be brought or exchanged for it, or one kernel has made several. Throws UsageError where sliced rows
/// are asked for and cannot be.
MakeSweep make_cuda_sweep;

/// An iteration's update, without what dangling vertices spread.
RankUpdate make_update(const Options& options, std::uint64_t vertices);

}  // namespace sluice::pagerank
