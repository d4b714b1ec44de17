// How a graph that does not fit the device is worked on, in partitions.
#pragma once

#include <cstdint>

namespace sluice {

class Communicator;

/// How the kernels reach a partition's edges.
enum class Transport {
  automatic,  ///< per partition and round, by what waits there
  copied,     ///< into a slot in device memory, from host memory
  mapped,     ///< read in place, from page-locked host memory
  file,       ///< from the graph file into a slot
};

/// Which partition is brought next.
enum class SchedulePolicy {
  workload,  ///< where most work waits (C-SAW section V.B)
  fifo,      ///< where work has waited longest
};

/// How the partitions that are worked on side by side share the device's blocks, or the host's threads.
enum class Balance {
  automatic,  ///< as it comes: a free thread takes the next block of any queue
  on,         ///< a kernel a partition, with blocks in proportion to what waits there, as C-SAW has it
  off,        ///< a kernel a partition, each with as many blocks as the others
};

/// None of this changes a result.
struct PagingOptions {
  std::uint64_t partitions = 0;  ///< 0: what the budget asks for; 1: the graph whole
  /// Use partitions even if `partitions` is 0; set when a plan decided so.
  bool cut = false;
  std::uint64_t slots = 0;  ///< partitions on the device at once, at least two; 0: what the budget allows
  Transport transport = Transport::automatic;
  SchedulePolicy schedule = SchedulePolicy::workload;
  /// All instances' entries in a partition's queue at once (C-SAW's batched multi-instance sampling), or one
  /// instance's after another's.
  bool batching = true;
  Balance balance = Balance::automatic;
  /// Each of these ranks owns a range of partitions, and work travels between them; null: every rank reaches
  /// the whole graph. All ranks then make the same runs.
  Communicator* shard = nullptr;
  /// Where GPUs of these ranks reach each other's memory, lists are read there and no work travels. Off: for
  /// benchmarks.
  bool peer_reads = true;
};

}  // namespace sluice
