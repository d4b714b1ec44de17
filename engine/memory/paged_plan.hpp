// How the device's memory is shared between partitions' slots and the walks or samples under way. Queues are
// part of an instance's bytes, so no queue spills to host memory. A list larger than a usual slot is a
// partition of its own; at most two slots hold such lists, because a scan may need two at once.
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
inline constexpr std::uint64_t kMostUnderWay = 0xfffffffe;
/// Where next to nothing is free, more partitions would not make it fit either: vertices take more.
inline constexpr std::uint64_t kMostPartitions = 4096;
/// A walk may need two lists at once, and a sweep's partition comes while another is worked on.
inline constexpr std::uint64_t kSlotsNeeded = 2;
/// Look-up tables and the like, of which there are a few beside slots and batches.
inline constexpr std::uint64_t kFixedBytes = 64u << 10;

struct PagedPlan {
  PartitionPlan partitions;
  unsigned slots = 1;
  unsigned large_slots = 0;      ///< of them, those for partitions that are one list larger than the others'
  std::uint64_t slot_bytes = 0;  ///< all slots
  std::uint64_t batch = 1;       ///< instances under way at once
  std::uint64_t leg = 0;         ///< steps after which what they have made so far leaves the device
  std::uint64_t instance_bytes = 1;  ///< of device memory, each instance under way
  double brought_bytes = 0;          ///< to the device in the whole run, about
  EdgeSet edge_set = {};  ///< of the lists of this rank, all here, beside slots; it has no memory yet
};

/// How a run that is only planned would work on a graph in partitions.
struct PlannedPages {
  PagedPlan plan;
  PageColumns columns;
  std::uint64_t instances = 1;  ///< of this rank
  std::uint64_t steps = 1;
  bool holds_all = false;  ///< does each of the ranks that share out the graph hold all of its partitions?
};

/// Cuts the graph and shares what is left of the device's memory: `bytes_per_instance` for each of at most
/// `instances` under way, the rest for slots. More of the graph in slots means fewer rounds, more instances
/// under way means fewer batches; the shares that bring the fewest bytes are taken. `steps` is how often an
/// instance goes on to another list; `taken` is what will be charged to the device before. Of an instance's
/// bytes, `row_bytes` are a row of an entry a step and one more. It may leave in legs, where that is given
/// and fewer bytes come: then more instances are under way, and the host holds their rows until they are
/// whole. Throws BudgetError with what is needed at least.
PagedPlan plan_pages(const Device& device, const Graph& graph, const PagingOptions& paging,
                     const PageColumns& columns, std::uint64_t bytes_per_instance, std::uint64_t instances,
                     std::uint64_t steps, std::uint64_t taken = 0, std::uint64_t row_bytes = 0);

/// Shall lists of `list_bytes` be read in place, one entry a step, rather than brought coded as `coded` would
/// have them? Asked for, or less time for as many steps.
bool reads_in_place(const PagedPlan& coded, const PagingOptions& paging, std::uint64_t list_bytes,
                    std::uint64_t instances, std::uint64_t steps);

/// Of so many bytes, what may be for slots and batches.
inline std::uint64_t beside_fixed(std::uint64_t bytes) {
  return bytes - std::min(bytes, kFixedBytes);
}

/// Of lists of so many bytes, a usual slot's where `share` is for slots.
std::uint64_t usual_slot_bytes(std::uint64_t share, std::uint64_t list_bytes);

/// What so many slots for partitions of the plan take.
std::uint64_t bytes_of_slots(const PartitionPlan& plan, unsigned slots);

/// Must a run work on this graph in partitions: asked for, in a file, or too large for the device's ceiling?
/// Of the device's memory this counts the graph alone; what a run takes beside it, its plan says.
bool needs_pages(const Device& device, const Graph& graph, const PagingOptions& paging);

}  // namespace sluice
