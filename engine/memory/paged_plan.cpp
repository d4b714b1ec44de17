#include "engine/memory/paged_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/memory/link.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/memory/coded_graph.hpp"

namespace sluice {

namespace {

/// In legs of fewer steps, most time would go to waiting for the last walks of a leg.
constexpr std::uint64_t kMinLegSteps = 4, kMaxLegs = 16;

/// Expected bytes brought, if slots hold `slot_bytes` of `graph_bytes` and `batch` instances are under way,
/// in `legs` legs. Each leg brings the absent part again, and at least a sixteenth of the graph: the last
/// walks of a leg keep no device busy. A walk waits for half of the absent part, on average, until an absent
/// list is brought; then it goes on through present lists.
double expected_transfer_bytes(double graph_bytes, double slot_bytes, double instances, double batch,
                               double steps, double legs) {
  const double absent = 1 - std::min(1.0, slot_bytes / graph_bytes);
  const double batches = std::ceil(instances / batch);
  return batches * graph_bytes * (1 + (legs - 1) * std::max(absent, 1.0 / 16) + steps * absent * absent / 2);
}

/// Slot sizes: usual partitions, and the few that are a single larger list. These have slots of their own, so
/// that such a list does not enlarge all slots.
class SlotSizes {
 public:
  explicit SlotSizes(const PartitionPlan& plan) {
    for (std::uint64_t p = 0; p < plan.size(); ++p) {
      const bool oversized = plan.oversized(p);
      if (oversized) ++oversized_;
      std::uint64_t& max_bytes = oversized ? largest_ : usual_;
      max_bytes = std::max(max_bytes, plan.bytes(p));
    }
    if (usual_ == 0) usual_ = std::max<std::uint64_t>(largest_, 1), oversized_ = 0;
  }

  /// The slots for oversized partitions, of `slots` slots.
  unsigned large(std::uint64_t slots) const {
    return static_cast<unsigned>(std::min({oversized_, slots, kMinSlots}));
  }
  std::uint64_t bytes(std::uint64_t slots) const {
    return large(slots) * largest_ + (slots - large(slots)) * usual_;
  }
  /// The number of slots in `capacity` bytes, which must hold at least kMinSlots.
  std::uint64_t count_within(std::uint64_t capacity) const {
    return kMinSlots + (capacity - bytes(kMinSlots)) / usual_;
  }

 private:
  std::uint64_t usual_ = 0, largest_ = 0, oversized_ = 0;
};

}  // namespace

bool reads_in_place(const PagedPlan& coded, const PagingOptions& paging, std::uint64_t list_bytes,
                    std::uint64_t instances, std::uint64_t steps) {
  if (paging.transport != Transport::automatic) return paging.transport == Transport::mapped;
  const LinkRates rates = expected_link(list_bytes);
  // Lists that are read as they are would have as many bytes of the device.
  const double resident =
      static_cast<double>(coded.slot_bytes) / static_cast<double>(std::max<std::uint64_t>(list_bytes, 1));
  const double reads =
      static_cast<double>(instances) * static_cast<double>(steps) * std::max(0.0, 1 - resident);
  return reads / rates.mapped_reads < coded.brought_bytes / rates.copied_bytes;
}

std::uint64_t usual_slot_bytes(std::uint64_t share, std::uint64_t list_bytes) {
  // Slots' worth of partitions in a budget: enough that some are brought while others are worked on, and few
  // enough that copies are long.
  constexpr std::uint64_t kSlots = 16;
  // Smaller copies do not fill the link (DESIGN section 7).
  constexpr std::uint64_t kMinSlotBytes = 1u << 20;
  return std::max({share / kSlots, std::min(kMinSlotBytes, share / kMinSlots), list_bytes / kMaxPartitions});
}

std::uint64_t bytes_of_slots(const PartitionPlan& plan, unsigned slots) {
  return SlotSizes(plan).bytes(slots);
}

bool needs_pages(const Device& device, const Graph& graph, const PagingOptions& paging) {
  if (paging.partitions > 1 || paging.transport != Transport::automatic || graph.edge_source) return true;
  if (paging.partitions == 1) return false;
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + (graph.weighted ? sizeof(float) : 0));
  // The host backend reads graphs in place; a ceiling simulates a device of that size.
  if (!device.is_cuda()) return paging.force_partitions || edges > device.memory().ceiling();
  const std::uint64_t hubs = graph.edges() / GraphView::kHubDegree * sizeof(Vertex),
                      vertices = (graph.vertices() + 1) * sizeof(EdgeIndex) +
                                 (graph.weighted ? graph.vertices() * sizeof(std::int16_t) : 0);
  return paging.force_partitions || edges + vertices + hubs > device.memory().available();
}

PagedPlan plan_pages(const Device& device, const Graph& graph, const PagingOptions& paging,
                     const PageColumns& columns, std::uint64_t bytes_per_instance, std::uint64_t instances,
                     std::uint64_t steps, std::uint64_t reserved_bytes, std::uint64_t row_bytes) {
  const ListExtents lists(graph.out.view(), columns, device.threads());
  const auto offsets = lists.offsets();
  const PartitionBytes bytes = lists.bytes();
  const std::uint64_t graph_bytes = std::max<std::uint64_t>(lists.total_bytes(), 1);
  const auto unreserved = [&](std::uint64_t left) {
    return left > reserved_bytes ? left - reserved_bytes : 0;
  };
  // The host backend's slots and batches are in host memory, which also holds results on their way to the
  // sink.
  const std::uint64_t max_available =
      device.is_cuda() ? ~std::uint64_t{0} : unreserved(host_budget().available()) / 2;
  const std::uint64_t available = std::min(unreserved(device.memory().available()), max_available);
  const std::uint64_t free = without_fixed_bytes(available);
  const std::uint64_t entry_bytes = row_bytes / (steps + 1), rows_on_host = host_budget().available() / 4;
  const auto leg_steps = [&](std::uint64_t legs) { return (steps + legs - 1) / legs; };
  const auto instance_bytes = [&](std::uint64_t legs) {
    return legs == 1 ? bytes_per_instance
                     : bytes_per_instance - row_bytes + (leg_steps(legs) + 1) * entry_bytes;
  };
  const auto batch_within = [&](std::uint64_t slot_bytes, std::uint64_t legs) {
    const std::uint64_t left = free > slot_bytes ? free - slot_bytes : 0;
    const std::uint64_t on_host = legs == 1 ? kMaxInFlight : rows_on_host / row_bytes;
    return std::min(
        {left / instance_bytes(legs), std::max<std::uint64_t>(instances, 1), on_host, kMaxInFlight});
  };
  const auto transfer_bytes_of = [&](std::uint64_t slot_bytes, std::uint64_t batch, std::uint64_t legs) {
    return expected_transfer_bytes(static_cast<double>(graph_bytes), static_cast<double>(slot_bytes),
                                   static_cast<double>(instances), static_cast<double>(batch),
                                   static_cast<double>(steps), static_cast<double>(legs));
  };

  // The share of slots, in sixteenths of the free memory.
  std::uint64_t share = 0, legs = 1;
  double best = 0;
  for (std::uint64_t leg_count = 1; leg_count <= kMaxLegs; leg_count *= 2) {
    if (leg_count > 1 && (row_bytes == 0 || leg_steps(leg_count) < kMinLegSteps)) break;
    for (std::uint64_t sixteenth = 1; sixteenth < 16; ++sixteenth) {
      const std::uint64_t slot_bytes = std::min(graph_bytes, free / 16 * sixteenth),
                          batch = batch_within(slot_bytes, leg_count);
      if (batch == 0 || slot_bytes == 0) continue;
      const double cost = transfer_bytes_of(slot_bytes, batch, leg_count);
      if (share == 0 || cost < best) share = slot_bytes, legs = leg_count, best = cost;
    }
  }
  // Slots also get what the batch leaves over.
  if (share != 0) share = std::min(graph_bytes, free - batch_within(share, legs) * instance_bytes(legs));
  const std::uint64_t slot_bytes = usual_slot_bytes(share, graph_bytes);
  PagedPlan plan{paging.partitions != 0
                     ? PartitionPlan::of_count(offsets, bytes, paging.partitions)
                     : PartitionPlan(offsets, bytes, std::max<std::uint64_t>(slot_bytes, 1))};
  const SlotSizes slots(plan.partitions);
  const std::uint64_t slots_that_fit = slots.count_within(std::max(share, slots.bytes(kMinSlots)));
  const std::uint64_t wanted = paging.slots != 0 ? std::max(paging.slots, kMinSlots) : slots_that_fit;
  plan.slots = static_cast<unsigned>(
      std::min({slots_that_fit, wanted, std::max<std::uint64_t>(plan.partitions.size(), 1)}));
  plan.large_slots = slots.large(plan.slots);
  plan.slot_bytes = slots.bytes(plan.slots);
  plan.batch = batch_within(plan.slot_bytes, legs);
  plan.leg = leg_steps(legs), plan.instance_bytes = instance_bytes(legs);
  if (plan.batch == 0) {
    const std::uint64_t needed = kFixedBytes + plan.slot_bytes + plan.instance_bytes;
    const bool host_limits = available == max_available;
    throw BudgetError(fmt::format(
        "{} memory: {} slots for partitions of up to {} and one instance need {}, but {} are left (raise "
        "--{}-memory, or use more --partitions)",
        host_limits ? "host" : "device", plan.slots, format_size(plan.partitions.largest()),
        format_size(needed), format_size(available), host_limits ? "host" : "device"));
  }
  plan.brought_bytes = transfer_bytes_of(plan.slot_bytes, plan.batch, legs);
  return plan;
}

}  // namespace sluice
