#include <fmt/format.h>

#include <algorithm>

#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kLeastSlots = 2;

}  // namespace

PartitionPlan cut_for_slots(const Device& device, const RankPart& rows, unsigned states) {
  if (rows.paging().transport == Transport::mapped)
    throw UsageError("--transport mapped: a GPU works on copies of messages (leave it out)");
  const CsrView& lists = rows.lists();
  const std::span<const EdgeIndex> offsets(lists.offsets, lists.vertices + 1);
  const std::uint64_t edge = belief_slot_bytes(states, rows.weighted()), left = device.memory().available(),
                      slots_asked = std::max<std::uint64_t>(rows.paging().slots, kLeastSlots),
                      capacity = left / edge,
                      most = lists.edges <= capacity ? capacity : capacity / slots_asked,
                      slot = std::clamp(most, std::uint64_t{1}, BeliefPart::kMostEdges - 1);
  const std::uint64_t asked = rows.paging().partitions;
  PartitionPlan plan =
      asked > 0 ? PartitionPlan::of_count(offsets, {0, 1}, asked) : PartitionPlan(offsets, {0, 1}, slot);
  const std::uint64_t slots = belief_slots(rows, plan), needed = slots * plan.largest() * edge;
  if (needed <= left || device.plans()) return plan;
  throw BudgetError(fmt::format(
      "device memory: {} partitions with their messages need {}, but {} are left beside the vertices (raise "
      "--device-memory, ask for more --partitions, or use --device host)",
      slots, format_size(needed), format_size(left)));
}

std::uint64_t belief_slots(const RankPart& rows, const PartitionPlan& plan) {
  return std::min(std::max(rows.paging().slots, kLeastSlots), plan.size());
}

}  // namespace sluice::acc
