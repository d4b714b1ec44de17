#include "engine/memory/paged_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/memory/link.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/memory/coded_graph.hpp"

namespace sluice {

namespace {

/// In legs of fewer steps, most time would go to waiting for the last walks of a leg.
constexpr std::uint64_t kShortestLeg = 4, kMostLegs = 16;

/// Expected bytes brought, if slots hold `slot_bytes` of `graph_bytes` and `batch` instances are under way,
/// in `legs` legs. Each leg brings the absent part again, and at least a sixteenth of the graph: the last
/// walks of a leg keep no device busy. A walk waits for half of the absent part, on average, until an absent
/// list is brought; then it goes on through present lists.
double brought(double graph_bytes, double slot_bytes, double instances, double batch, double steps,
               double legs) {
  const double away = 1 - std::min(1.0, slot_bytes / graph_bytes);
  const double batches = std::ceil(instances / batch);
  return batches * graph_bytes * (1 + (legs - 1) * std::max(away, 1.0 / 16) + steps * away * away / 2);
}

/// Slot sizes: usual partitions, and the few that are a single larger list. These have slots of their own, so
/// that such a list does not enlarge all slots.
class Sizes {
 public:
  explicit Sizes(const PartitionPlan& plan) {
    for (std::uint64_t p = 0; p < plan.size(); ++p) {
      const bool oversized = plan.oversized(p);
      if (oversized) ++oversized_;
      std::uint64_t& most = oversized ? largest_ : usual_;
      most = std::max(most, plan.bytes(p));
    }
    if (usual_ == 0) usual_ = std::max<std::uint64_t>(largest_, 1), oversized_ = 0;
  }

  /// The slots for oversized partitions, of `slots` slots.
  unsigned large(std::uint64_t slots) const {
    return static_cast<unsigned>(std::min({oversized_, slots, kSlotsNeeded}));
  }
  std::uint64_t bytes(std::uint64_t slots) const {
    return large(slots) * largest_ + (slots - large(slots)) * usual_;
  }
  /// The number of slots in `capacity` bytes, which must hold at least kSlotsNeeded.
  std::uint64_t fitting(std::uint64_t capacity) const {
    return kSlotsNeeded + (capacity - bytes(kSlotsNeeded)) / usual_;
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
  constexpr std::uint64_t kSmallestSlot = 1u << 20;
  return std::max(
      {share / kSlots, std::min(kSmallestSlot, share / kSlotsNeeded), list_bytes / kMostPartitions});
}

std::uint64_t bytes_of_slots(const PartitionPlan& plan, unsigned slots) {
  return Sizes(plan).bytes(slots);
}

bool needs_pages(const Device& device, const Graph& graph, const PagingOptions& paging) {
  if (paging.partitions > 1 || paging.transport != Transport::automatic || graph.edges_elsewhere) return true;
  if (paging.partitions == 1) return false;
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + (graph.weighted ? sizeof(float) : 0));
  // The host backend reads graphs in place; a ceiling simulates a device of that size.
  if (!device.is_cuda()) return paging.cut || edges > device.memory().ceiling();
  const std::uint64_t hubs = graph.edges() / GraphView::kHubDegree * sizeof(Vertex),
                      vertices = (graph.vertices() + 1) * sizeof(EdgeIndex) +
                                 (graph.weighted ? graph.vertices() * sizeof(std::int16_t) : 0);
  return paging.cut || edges + vertices + hubs > device.memory().available();
}

PagedPlan plan_pages(const Device& device, const Graph& graph, const PagingOptions& paging,
                     const PageColumns& columns, std::uint64_t bytes_per_instance, std::uint64_t instances,
                     std::uint64_t steps, std::uint64_t taken, std::uint64_t row_bytes) {
  const CutLists lists(graph.out.view(), columns, device.threads());
  const auto offsets = lists.offsets();
  const PartitionBytes bytes = lists.bytes();
  const std::uint64_t graph_bytes = std::max<std::uint64_t>(lists.sum(), 1);
  const auto beside = [&](std::uint64_t left) { return left > taken ? left - taken : 0; };
  // The host backend's slots and batches are in host memory, which also holds results on their way to the
  // sink.
  const std::uint64_t most = device.is_cuda() ? ~std::uint64_t{0} : beside(host_budget().available()) / 2;
  const std::uint64_t available = std::min(beside(device.memory().available()), most);
  const std::uint64_t free = beside_fixed(available);
  const std::uint64_t entry = row_bytes / (steps + 1), rows_on_host = host_budget().available() / 4;
  const auto leg_of = [&](std::uint64_t legs) { return (steps + legs - 1) / legs; };
  const auto each = [&](std::uint64_t legs) {
    return legs == 1 ? bytes_per_instance : bytes_per_instance - row_bytes + (leg_of(legs) + 1) * entry;
  };
  const auto fitting = [&](std::uint64_t slot_bytes, std::uint64_t legs) {
    const std::uint64_t left = free > slot_bytes ? free - slot_bytes : 0;
    const std::uint64_t on_host = legs == 1 ? kMostUnderWay : rows_on_host / row_bytes;
    return std::min({left / each(legs), std::max<std::uint64_t>(instances, 1), on_host, kMostUnderWay});
  };
  const auto brought_by = [&](std::uint64_t slot_bytes, std::uint64_t batch, std::uint64_t legs) {
    return brought(static_cast<double>(graph_bytes), static_cast<double>(slot_bytes),
                   static_cast<double>(instances), static_cast<double>(batch), static_cast<double>(steps),
                   static_cast<double>(legs));
  };

  // The share of slots, in sixteenths of the free memory.
  std::uint64_t share = 0, legs = 1;
  double best = 0;
  for (std::uint64_t some = 1; some <= kMostLegs; some *= 2) {
    if (some > 1 && (row_bytes == 0 || leg_of(some) < kShortestLeg)) break;
    for (std::uint64_t sixteenth = 1; sixteenth < 16; ++sixteenth) {
      const std::uint64_t slot_bytes = std::min(graph_bytes, free / 16 * sixteenth),
                          batch = fitting(slot_bytes, some);
      if (batch == 0 || slot_bytes == 0) continue;
      const double cost = brought_by(slot_bytes, batch, some);
      if (share == 0 || cost < best) share = slot_bytes, legs = some, best = cost;
    }
  }
  // Slots also get what the batch leaves over.
  if (share != 0) share = std::min(graph_bytes, free - fitting(share, legs) * each(legs));
  const std::uint64_t slot_bytes = usual_slot_bytes(share, graph_bytes);
  PagedPlan plan{paging.partitions != 0
                     ? PartitionPlan::of_count(offsets, bytes, paging.partitions)
                     : PartitionPlan(offsets, bytes, std::max<std::uint64_t>(slot_bytes, 1))};
  const Sizes slots(plan.partitions);
  const std::uint64_t fit = slots.fitting(std::max(share, slots.bytes(kSlotsNeeded)));
  const std::uint64_t wanted = paging.slots != 0 ? std::max(paging.slots, kSlotsNeeded) : fit;
  plan.slots =
      static_cast<unsigned>(std::min({fit, wanted, std::max<std::uint64_t>(plan.partitions.size(), 1)}));
  plan.large_slots = slots.large(plan.slots);
  plan.slot_bytes = slots.bytes(plan.slots);
  plan.batch = fitting(plan.slot_bytes, legs);
  plan.leg = leg_of(legs), plan.instance_bytes = each(legs);
  if (plan.batch == 0) {
    const std::uint64_t needed = kFixedBytes + plan.slot_bytes + plan.instance_bytes;
    const bool of_host = available == most;
    throw BudgetError(fmt::format(
        "{} memory: {} slots for partitions of up to {} and one instance need {}, but {} are left (raise "
        "--{}-memory, or ask for more --partitions)",
        of_host ? "host" : "device", plan.slots, format_size(plan.partitions.largest()), format_size(needed),
        format_size(available), of_host ? "host" : "device"));
  }
  plan.brought_bytes = brought_by(plan.slot_bytes, plan.batch, legs);
  return plan;
}

}  // namespace sluice
