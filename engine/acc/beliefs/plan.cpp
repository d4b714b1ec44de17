// What belief propagation would take: in parts its run, constructed; whole on a GPU a sum, which says whether
// a graph stays whole.
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

/// Of the vertices and edges that a rank has: its run, constructed on a device that only counts.
AccPlan partitioned_plan(const Device& device, const Graph& graph, unsigned states, const AccPlace& place) {
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  const AccGraph on_device = belief_graph(counting, graph, states, place);
  const BeliefModel model{states, {}, std::vector<double>(std::uint64_t{states} * states, 1)};
  const BeliefResult result = propagate_beliefs(on_device, model);
  const CsrView& lists = on_device.rank_part().lists();
  AccPlan plan;
  plan.state_bytes = lists.vertices * states * (2 * sizeof(LogProduct) + sizeof(double));
  plan.scratch_bytes = result.stats.scratch_bytes;
  if (plan.scratch_bytes == 0) plan.message_bytes = MessageParts::bytes(lists.edges, states);
  plan.partitions = result.stats.partitions;
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  // A check looks at messages, too.
  plan.freed_bytes = plan.host_bytes - memory.host_used() - plan.message_bytes;
  return plan;
}

}  // namespace

AccNeeds belief_needs(const Device& device, const Graph& graph, unsigned states) {
  return {.weights = true, .on_hosts = true, .whole_bytes = device.is_cuda() ? whole_plan(graph, states).device_bytes : 0};
}

AccPlan plan_beliefs(const Device& device, const Graph& graph, unsigned states, const AccPlace& place) {
  const bool whole =
      device.is_cuda() && !is_shared_out(device, graph, belief_needs(device, graph, states), place);
  AccPlan plan = whole ? whole_plan(graph, states) : partitioned_plan(device, graph, states, place);
  plan.check_bytes += graph.vertices() * states * (sizeof(double) + sizeof(std::uint32_t));
  plan.result_bytes = graph.vertices() * states * sizeof(float);
  if (whole) plan.host_bytes = plan.result_bytes;
  plan.given_bytes = graph.vertices() * states * sizeof(double);
  return plan;
}

}  // namespace sluice::acc
