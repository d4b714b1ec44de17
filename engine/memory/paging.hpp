// Options for working in partitions, on a graph that does not fit the device.
#pragma once

#include <cstdint>

namespace sluice {

class Communicator;

/// How kernels read a partition's edges.
enum class Transport {
  automatic,  ///< chosen per partition and round, by the work that waits there
  copied,     ///< copied from host memory into a slot in device memory
  mapped,     ///< read in place, from page-locked host memory
  file,       ///< read from the graph file into a slot
};

/// Which partition is brought next.
enum class SchedulePolicy {
  workload,  ///< where most work waits (C-SAW section V.B)
  fifo,      ///< where work has waited longest
};

/// How partitions that are worked on side by side share the device's blocks, or the host's threads.
enum class Balance {
  automatic,  ///< no shares: a free thread takes the next block of any queue
  on,         ///< a kernel for each partition, blocks in proportion to its work (C-SAW)
  off,        ///< a kernel for each partition, equally many blocks for each
};

/// None of these options changes a result.
struct PagingOptions {
  std::uint64_t partitions = 0;  ///< 0: as the budget requires; 1: the graph whole
  /// Use partitions even if `partitions` is 0; set when a plan decided so.
  bool force_partitions = false;
  std::uint64_t slots = 0;  ///< partitions on the device at once, at least 2; 0: as the budget allows
  Transport transport = Transport::automatic;
  SchedulePolicy schedule = SchedulePolicy::workload;
  /// True: all instances' entries in a partition's queue at once (C-SAW's batched multi-instance sampling).
  /// False: one instance after another.
  bool batching = true;
  Balance balance = Balance::automatic;
  /// Each of these ranks owns a range of partitions, and work travels between them; all ranks then make the
  /// same runs. Null: every rank reaches the whole graph.
  Communicator* shard = nullptr;
  /// If the ranks' GPUs can access each other's memory, lists are read there and no work travels. False: for
  /// benchmarks.
  bool peer_reads = true;
};

}  // namespace sluice
