// What a solver would take: its run, on a device whose memory only counts (MemoryPlan), up to the first
// round.
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "partition/build.hpp"

namespace sluice::acc {

namespace {

/// A vertex's state, and its results with what these are made from, in bytes; and bits of a check
/// (verify.hpp).
struct VertexSize {
  std::uint64_t state = 0, result = 0, check = 0;
};

std::uint64_t check_bytes(const Graph& graph, const AccNeeds& needs, std::uint64_t bits) {
  const std::uint64_t bytes = (graph.vertices() * bits + 7) / 8;
  const bool turned = needs.simple && graph.directed && graph.in.offsets.empty();
  return bytes + (turned ? transpose_bytes(graph.out) : 0);
}

template <class Run>
AccPlan plan_of(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place,
                const VertexSize& vertex, Run&& run) {
  const std::uint64_t n = graph.vertices();
  AccPlan plan;
  plan.state_bytes = n * vertex.state;
  plan.result_bytes = n * vertex.result;
  plan.check_bytes = check_bytes(graph, needs, vertex.check);
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  const AccGraph on_device(counting, graph, needs, place);
  const auto result = run(on_device);
  plan.partitions = result.stats.partitions;
  const RankPart& part = on_device.rank_part();
  if (plan.partitions > 1) plan.brought_bytes = edge_bytes(part.lists().edges, part.weighted());
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  plan.freed_bytes = plan.host_bytes - memory.host_used();
  return plan;
}

}  // namespace

AccPlan plan_bfs(const Device& device, const Graph& graph, const AccPlace& place, const AccOptions& options) {
  const bool in = !graph.directed || !graph.in.offsets.empty();
  return plan_of(device, graph, {.in_edges = in}, place, {8, 8, 1},
                 [&](const AccGraph& on_device) { return bfs(on_device, 0, options); });
}

AccPlan plan_sssp(const Device& device, const Graph& graph, const AccPlace& place,
                  const AccOptions& options) {
  const bool in = options.direction != AccDirection::push && (!graph.directed || !graph.in.offsets.empty());
  return plan_of(device, graph, {.in_edges = in, .weights = true}, place, {8, 8, 2 + 32},
                 [&](const AccGraph& on_device) { return sssp(on_device, 0, 0, options); });
}

AccPlan plan_cores(const Device& device, const Graph& graph, const AccPlace& place, bool made,
                   const AccOptions& options) {
  const AccNeeds needs{
      .in_edges = options.direction != AccDirection::push, .simple = true, .made = graph.directed || made};
  return plan_of(device, graph, needs, place, {4, 4, 64},
                 [&](const AccGraph& on_device) { return core_numbers(on_device, 0, options); });
}

AccPlan plan_components(const Device& device, const Graph& graph, const AccPlace& place) {
  return plan_of(device, graph, {}, place, {4, 8, 32}, [](const AccGraph& on_device) {
    ComponentResult result = components(on_device);
    // Names, which come of it.
    host_budget().charge_and_release(on_device.vertices() * sizeof(std::int64_t), "component names");
    return result;
  });
}

}  // namespace sluice::acc
