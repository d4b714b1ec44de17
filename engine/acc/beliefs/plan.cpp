// What belief propagation allocates, said beforehand.
#include <algorithm>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/beliefs/message_parts.hpp"
#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"

namespace sluice::acc {

namespace {

std::uint64_t coupling_bytes(unsigned states) {
  return std::uint64_t{states} * states * sizeof(double);
}

/// Of a whole graph in a GPU's memory.
AccPlan whole_plan(const Graph& graph, unsigned states) {
  const std::uint64_t n = graph.vertices(), m = graph.edges();
  AccPlan plan;
  // Products twice and priors, and beliefs; messages twice and the way back for every edge.
  plan.state_bytes = n * states * (3 * sizeof(LogProduct) + sizeof(double)) +
                     m * (states * 2 * sizeof(std::int64_t) + sizeof(EdgeIndex));
  plan.device_bytes = plan.state_bytes + coupling_bytes(states) + (n + 1) * sizeof(EdgeIndex) +
                      m * (sizeof(Vertex) + (graph.weighted ? sizeof(float) : 0));
#if defined(SLUICE_HAVE_CUDA)
  plan.device_bytes += whole_cuda_belief_bytes(m);
#endif
  // For a check messages are copied, and the way back.
  plan.check_bytes = m * (states * sizeof(std::int64_t) + sizeof(EdgeIndex));
  return plan;
}

#if defined(SLUICE_HAVE_CUDA)
/// Vertex states stay on a GPU, parts come with their messages.
void add_gpu_slots(AccPlan& plan, const Device& device, const Graph& graph, std::uint64_t rows,
                   std::uint64_t edges, unsigned states, const PagingOptions& paging) {
  plan.device_bytes += cuda_belief_part_bytes(rows, edges);
  const std::uint64_t edge = belief_slot_bytes(states, graph.weighted),
                      available = device.memory().available(),
                      free = available > plan.device_bytes ? available - plan.device_bytes : 0;
  const std::uint64_t slots = std::max<std::uint64_t>(paging.slots, 2);
  std::uint64_t slot = edges;
  if (paging.partitions > 1) {
    slot = (edges + paging.partitions - 1) / paging.partitions;
  } else if (paging.partitions == 0 && edges * edge > free) {
    slot = free / slots / edge;
    for (std::uint64_t v = 0; v < graph.vertices(); ++v)
      slot = std::max(slot, graph.out.offsets[v + 1] - graph.out.offsets[v]);
  }
  plan.partitions = slot < edges ? (edges + slot - 1) / slot : 1;
  plan.device_bytes += slot * edge * std::min(plan.partitions, slots);
}
#endif

/// Of the vertices and edges that a rank has.
AccPlan partitioned_plan(const Device& device, const Graph& graph, unsigned states, const AccPlace& place) {
  const OwnRows own = OwnRows::of(graph.out.offsets.span(), place.ranks);
  const std::uint64_t rows = own.rows(), edges = own.edges(), values = rows * states;
  AccPlan plan;
  plan.state_bytes = values * (2 * sizeof(LogProduct) + sizeof(double));
  plan.device_bytes = plan.state_bytes + coupling_bytes(states);
  const bool fits = MessageParts::fit(host_budget().available(), rows, edges, states, graph.weighted);
  (fits || place.scratch.empty() ? plan.message_bytes : plan.scratch_bytes) =
      MessageParts::bytes(edges, states);
  plan.partitions = host_belief_parts(place.paging, edges);
  plan.host_bytes = plan.message_bytes + BlockExchange::buffer_bytes(own.ranks);
  // While it begins: priors and beliefs on their way, and counters of messages.
  plan.host_bytes += values * (sizeof(LogProduct) + sizeof(double)) + rows * sizeof(EdgeIndex);
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    add_gpu_slots(plan, device, graph, rows, edges, states, place.paging);
    return plan;
  }
#endif
  const std::uint64_t lists = edges * (sizeof(Vertex) + sizeof(float));
  const EdgeSource* const file = graph.edges_elsewhere.get();
  if (graph.weighted && is_paged(device, lists, 0, file, place.paging)) {
    const SweepPagePlan pages = plan_sweep_pages(
        device,
        {lists, longest_list(graph.out.offsets.span()) * (sizeof(Vertex) + sizeof(float)), own.offsets},
        {plan.device_bytes, plan.host_bytes}, file != nullptr, place.paging);
    plan.device_bytes += pages.least_bytes;
    plan.partitions = pages.partitions;
  }
  plan.host_bytes += plan.device_bytes;
  return plan;
}

}  // namespace

AccNeeds belief_needs(const Device& device, const Graph& graph, unsigned states) {
  return {.weights = true, .whole_bytes = device.is_cuda() ? whole_plan(graph, states).device_bytes : 0};
}

AccPlan plan_beliefs(const Device& device, const Graph& graph, unsigned states, const AccPlace& place) {
  const bool whole =
      device.is_cuda() && !is_shared_out(device, graph, belief_needs(device, graph, states), place);
  AccPlan plan = whole ? whole_plan(graph, states) : partitioned_plan(device, graph, states, place);
  plan.check_bytes += graph.vertices() * states * (sizeof(double) + sizeof(std::uint32_t));
  if (!device.is_cuda()) plan.freed_bytes = plan.device_bytes;
  plan.result_bytes = graph.vertices() * states * sizeof(float);
  // And the priors as they were given.
  plan.host_bytes += plan.result_bytes + graph.vertices() * states * sizeof(double);
  return plan;
}

}  // namespace sluice::acc
