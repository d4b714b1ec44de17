// Counters and times of walks and samples.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/memory/traffic.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// The work of a run, for the report.
struct RunStats : Traffic {
  Instance instances = 0;
  std::uint64_t steps = 0;          ///< walks: steps taken (moves, stays, jumps); multidimensional: edges
  std::uint64_t sampled_edges = 0;  ///< samples: edges recorded; walks: the same as steps
  double load_seconds = 0;          ///< graph to the device; rest of the edges, and tables made meanwhile
  double table_seconds = 0;         ///< derived tables (alias, CTPS, wide edges)
  double compute_seconds = 0;       ///< the sampling itself (on a GPU: its kernels)
  double transfer_seconds = 0;      ///< results to the host
  double write_seconds = 0;         ///< waiting for the sink
  std::uint64_t device_to_host_bytes = 0;
  std::uint64_t edge_set_bytes = 0;    ///< device bytes, only during the run
  std::uint64_t entries_sent = 0;      ///< shard: walks, lists, questions or edges for other ranks
  std::uint64_t entries_received = 0;  ///< the same, received from other ranks
  double exchange_seconds = 0;         ///< exchange between GPUs; walks partly while they step
  std::uint64_t batches = 0;
  std::uint64_t selections = 0;            ///< picks made
  std::uint64_t selection_iterations = 0;  ///< trials, redraws and first choices together
  std::uint64_t collision_searches = 0;    ///< comparisons or bitmap probes
  std::uint64_t kernel_launches = 0;
  KernelTimes kernels;                ///< of partitions side by side, if each has its share
  Select select = Select::automatic;  ///< the technique used
  Layout layout = Layout::csr;        ///< the layout used
};

}  // namespace sluice
