// What walks and samples did.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/memory/traffic.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// What a run did, for the report.
struct RunStats : Traffic {
  Instance instances = 0;
  std::uint64_t steps = 0;          ///< walks: steps taken (moves, stays, jumps); multidimensional: edges
  std::uint64_t sampled_edges = 0;  ///< samples: edges recorded; walks: the same as steps
  double load_seconds = 0;          ///< graph to the device; edges still to come, and tables made meanwhile
  double table_seconds = 0;         ///< derived tables (alias, CTPS, wide edges)
  double compute_seconds = 0;       ///< the sampling itself (on a GPU: its kernels)
  double transfer_seconds = 0;      ///< results to the host
  double write_seconds = 0;         ///< waiting for the sink
  std::uint64_t device_to_host_bytes = 0;
  std::uint64_t edge_set_bytes = 0;    ///< of the device, for the run alone
  std::uint64_t entries_sent = 0;      ///< shard: walks, lists, questions or edges for other ranks
  std::uint64_t entries_received = 0;  ///< and that came from them
  double exchange_seconds = 0;         ///< GPUs handing each other work, walks partly while they step
  std::uint64_t batches = 0;
  std::uint64_t selections = 0;            ///< picks made
  std::uint64_t selection_iterations = 0;  ///< trials, redraws and first choices together
  std::uint64_t collision_searches = 0;    ///< comparisons or bitmap probes
  std::uint64_t kernel_launches = 0;
  KernelTimes kernels;                ///< of partitions side by side, where each has its share
  Select select = Select::automatic;  ///< the technique taken
  Layout layout = Layout::csr;        ///< the layout taken
};

}  // namespace sluice
