// Divides device memory between the slots of partitions and the walks or samples under way. Queues are part
// of an instance's bytes, so no queue spills to host memory. A list larger than a usual slot is a partition
// of its own; at most two slots hold such lists, because a scan may need two at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/device.hpp"
#include "engine/graph/edge_set.hpp"
#include "engine/graph/page_columns.hpp"
#include "engine/memory/paging.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Instances under way are numbered in 32 bits.
inline constexpr std::uint64_t kMaxInFlight = 0xfffffffe;
/// If almost nothing is free, more partitions would not help: vertices need more memory.
inline constexpr std::uint64_t kMaxPartitions = 4096;
/// A walk may need two lists at once, and a sweep brings one partition while it works on another.
inline constexpr std::uint64_t kMinSlots = 2;
/// Bytes for look-up tables and other small buffers beside slots and batches.
inline constexpr std::uint64_t kFixedBytes = 64u << 10;

struct PagedPlan {
  PartitionPlan partitions;
  unsigned slots = 1;
  unsigned large_slots = 0;      ///< of these, slots for partitions that are one larger list
  std::uint64_t slot_bytes = 0;  ///< bytes of all slots
  std::uint64_t batch = 1;       ///< instances under way at once
  std::uint64_t leg = 0;         ///< steps after which rows leave the device
  std::uint64_t instance_bytes = 1;  ///< device bytes of each instance under way
  double brought_bytes = 0;          ///< expected bytes brought in the whole run
  EdgeSet edge_set = {};             ///< of this rank's lists, which are all present; not yet allocated
};

/// The partitions of a run that is only planned.
struct PlannedPages {
  PagedPlan plan;
  PageColumns columns;
  std::uint64_t instances = 1;  ///< of this rank
  std::uint64_t steps = 1;
  bool all_resident = false;  ///< true if each rank that owns a part holds all of it
};

/// Cuts the graph into partitions and divides the free device memory: `bytes_per_instance` for each of at
/// most `instances` under way, the rest for slots. More slots mean fewer rounds, more instances under way
/// mean fewer batches; the plan that brings the fewest bytes is chosen. `steps`: moves of an instance to
/// another list; `reserved_bytes`: device bytes that will be charged before. `row_bytes`: the part of an
/// instance's bytes for a row of steps + 1 entries, or 0. Such rows may leave in legs, if that brings fewer
/// bytes: more instances are under way, and the host holds incomplete rows. Throws BudgetError naming the
/// least that is needed.
PagedPlan plan_pages(const Device& device, const Graph& graph, const PagingOptions& paging,
                     const PageColumns& columns, std::uint64_t bytes_per_instance, std::uint64_t instances,
                     std::uint64_t steps, std::uint64_t reserved_bytes = 0, std::uint64_t row_bytes = 0);

/// True if lists of `list_bytes` should be read in place, one entry a step, instead of brought by the plan
/// `coded`: if `paging` asks for it, or it takes less time for these steps.
bool reads_in_place(const PagedPlan& coded, const PagingOptions& paging, std::uint64_t list_bytes,
                    std::uint64_t instances, std::uint64_t steps);

/// The part of `bytes` that slots and batches may use.
inline std::uint64_t without_fixed_bytes(std::uint64_t bytes) {
  return bytes - std::min(bytes, kFixedBytes);
}

/// The size of a usual slot, if slots share `share` bytes and the lists have `list_bytes`.
std::uint64_t usual_slot_bytes(std::uint64_t share, std::uint64_t list_bytes);

/// The bytes of `slots` slots for partitions of the plan.
std::uint64_t bytes_of_slots(const PartitionPlan& plan, unsigned slots);

/// True if runs must use partitions: they are asked for, the edges are in a file, or the graph is too large
/// for the device. Counts the graph alone; plans count what runs need beside it.
bool needs_pages(const Device& device, const Graph& graph, const PagingOptions& paging);

}  // namespace sluice
