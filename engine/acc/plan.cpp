#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"

namespace sluice::acc {

AccPlan plan_of(const MemoryPlan& memory, const AccGraph& on_device, const Graph& graph,
                const VertexSize& vertex, const AccStats& stats) {
  const RankPart& part = on_device.rank_part();
  AccPlan plan;
  plan.state_bytes = graph.vertices() * vertex.state;
  plan.result_bytes = graph.vertices() * vertex.result;
  plan.partitions = stats.partitions;
  if (plan.partitions > 1) plan.brought_bytes = edge_bytes(part.lists().edges, part.weighted());
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  return plan;
}

}  // namespace sluice::acc
