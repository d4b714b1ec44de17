// Plans belief propagation, by a run on a device that only counts memory (MemoryPlan); and cuts partitions
// that fit a GPU.
#include <fmt/format.h>

#include <algorithm>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/beliefs/message_parts.hpp"
#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::acc {

namespace {

/// A model with only the members that plans use.
BeliefModel outline(unsigned states) {
  return {states, {}, std::vector<double>(std::uint64_t{states} * states, 1)};
}

/// Bytes that a GPU needs for a whole graph.
std::uint64_t whole_bytes([[maybe_unused]] const Device& device, [[maybe_unused]] const Graph& graph,
                          [[maybe_unused]] unsigned states) {
#if defined(SLUICE_HAVE_CUDA)
  return planned_bytes(device, [&](const Device& counting) {
    const AccGraph whole(counting, graph, {.weights = true, .on_hosts = true}, {.paging = {.partitions = 1}});
    make_resident_beliefs(whole, outline(states), {});
  });
#else
  return 0;
#endif
}

}  // namespace

PartitionPlan cut_for_slots(const Device& device, const RankPart& rank_part, unsigned states) {
  if (rank_part.paging().transport == Transport::mapped)
    throw UsageError("--transport mapped: a GPU needs copies of messages (omit it)");
  const CsrView& lists = rank_part.lists();
  const std::span<const EdgeIndex> offsets(lists.offsets, lists.vertices + 1);
  const std::uint64_t edge = belief_slot_bytes(states, rank_part.weighted()),
                      available = device.memory().available(),
                      requested_slots = std::max<std::uint64_t>(rank_part.paging().slots, kMinSlots),
                      capacity = available / edge,
                      max_edges = lists.edges <= capacity ? capacity : capacity / requested_slots,
                      slot = std::clamp(max_edges, std::uint64_t{1}, BeliefPart::kMaxEdges - 1);
  const std::uint64_t requested = rank_part.paging().partitions;
  PartitionPlan plan = requested > 0 ? PartitionPlan::of_count(offsets, {0, 1}, requested)
                                     : PartitionPlan(offsets, {0, 1}, slot);
  const std::uint64_t slots = belief_slots(rank_part, plan), needed = slots * plan.largest() * edge;
  if (needed <= available || device.is_planning()) return plan;
  throw BudgetError(fmt::format(
      "device memory: {} partitions with their messages need {}, but {} are left after the vertices (raise "
      "--device-memory, use more --partitions, or use --device host)",
      slots, format_size(needed), format_size(available)));
}

std::uint64_t belief_slots(const RankPart& rank_part, const PartitionPlan& plan) {
  return std::min(std::max(rank_part.paging().slots, kMinSlots), plan.size());
}

AccNeeds belief_needs(const Device& device, const Graph& graph, unsigned states) {
  return {.weights = true,
          .on_hosts = true,
          .whole_bytes = device.is_cuda() ? whole_bytes(device, graph, states) : 0};
}

AccPlan plan_beliefs(const Device& device, const Graph& graph, unsigned states, const AccPlace& place,
                     const BeliefOptions& options) {
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  const AccGraph on_device = belief_graph(counting, graph, states, place);
  const std::uint64_t lists = memory.needed();
  const BeliefModel model = outline(states);
  const BeliefResult result = propagate_beliefs(on_device, model, options);
  if (options.keep_messages) verify_beliefs(graph, model, result, options.tolerance, options.damping);
  const CsrView& own = on_device.rank_part().lists();
  AccPlan plan;
  plan.scratch_bytes = result.stats.scratch_bytes;
  plan.partitions = result.stats.partitions;
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  plan.state_bytes = own.vertices * states * (2 * sizeof(LogProduct) + sizeof(double));
  if (on_device.complete() && device.is_cuda()) {
    plan.state_bytes = plan.device_bytes - lists;  // with messages
  } else if (plan.scratch_bytes == 0) {
    plan.message_bytes = MessageParts::bytes(own.edges, states);
  }
  plan.result_bytes = graph.vertices() * states * sizeof(float);
  plan.model_bytes = graph.vertices() * states * sizeof(double);
  return plan;
}

}  // namespace sluice::acc
