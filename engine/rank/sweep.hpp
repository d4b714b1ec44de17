// One static PageRank iteration after the other, on some backend.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/exec/device.hpp"
#include "engine/rank/change.hpp"
#include "engine/rank/options.hpp"
#include "engine/rank/rank_graph.hpp"

namespace sluice {

/// Vertex state and the sweep over all in-edges that renews it: synchronous and pull-based, so that every
/// vertex is written by one thread and nothing is atomic.
class Sweep {
 public:
  virtual ~Sweep() = default;
  /// Makes the next iteration, the first from equal ranks. Returns what it changed.
  virtual RankChange step() = 0;
  /// Ranks after the last iteration that step() returned.
  virtual void read_ranks(std::span<double> ranks) = 0;
};

/// On the host's threads. References are kept. Throws BudgetError where the state does not fit.
std::unique_ptr<Sweep> make_host_sweep(const Device& device, const RankGraph& graph,
                                       const PageRankOptions& options);

/// What one iteration's update is, after `dangling` rank was found without out-edges.
RankUpdate make_update(const PageRankOptions& options, std::uint64_t vertices, FixedRank dangling);

}  // namespace sluice
