#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "partition/build.hpp"

namespace sluice::acc {

AccPlan plan_of(const MemoryPlan& memory, const AccGraph& on_device, const Graph& graph,
                const AccNeeds& needs, const VertexSize& vertex, const AccStats& stats) {
  const std::uint64_t n = graph.vertices();
  const bool turned = needs.simple && graph.directed && graph.in.offsets.empty();  // to be checked
  const RankPart& part = on_device.rank_part();
  AccPlan plan;
  plan.state_bytes = n * vertex.state;
  plan.result_bytes = n * vertex.result;
  plan.check_bytes = (n * vertex.check + 7) / 8 + (turned ? transpose_bytes(graph.out) : 0);
  plan.partitions = stats.partitions;
  if (plan.partitions > 1) plan.brought_bytes = edge_bytes(part.lists().edges, part.weighted());
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  plan.freed_bytes = plan.host_bytes - memory.host_used();
  return plan;
}

}  // namespace sluice::acc
