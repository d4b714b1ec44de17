// Plans dynamic PageRank by constructing its run on a device whose memory is only counted (MemoryPlan).
#include "engine/pagerank/dynamic/plan.hpp"

#include "engine/pagerank/dynamic/backend.hpp"
#include "partition/build.hpp"

namespace sluice::pagerank {

namespace {

/// In-edges that a directed graph in memory does not store; they are made once and kept.
Csr make_in_edges(const Graph& graph) {
  if (!graph.directed || !graph.in.offsets.empty() || graph.edge_source) return {};
  return transpose(graph.out);
}

}  // namespace

bool keeps_whole_graph(const Device& device, const Graph& graph, [[maybe_unused]] const Options& options,
                       const PagingOptions& paging) {
  if (!device.is_cuda() || graph.edge_source || paging.partitions > 1 || paging.slots > 0 ||
      paging.transport != Transport::automatic)
    return false;
#if defined(SLUICE_HAVE_CUDA)
  if (paging.partitions == 0) {
    const std::uint64_t bytes = whole_cuda_bytes(device, graph, options);
    return bytes + batch_headroom(bytes) <= device.memory().available();
  }
#endif
  return true;
}

Plan plan_dynamic_ranks(const Device& device, const Graph& graph, const Options& options,
                        const UpdateSize& batch, const RankPlace& place, const DynamicRankOptions& dynamic) {
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  HostArray<double> earlier(graph.vertices(), "earlier ranks");
  const Csr in_edges = make_in_edges(graph);
  const auto state = make_dynamic_ranks(counting, graph, earlier.span(), options, place);
  state->validate(dynamic);
  earlier = {};
  Plan plan;
  plan.state_bytes = memory.needed();
  host_budget().charge_and_release(batch.peak_bytes, "the update of the graph");
  const HostArray<std::byte> changes(batch.kept_bytes, "a batch");
  state->plan(graph, batch, plan);
  const HostArray<double> result(state->own_rows(), "ranks");
  state->read_ranks({});
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  plan.exact_on_ranks = !(graph.directed ? graph.in : graph.out).offsets.empty();
  return plan;
}

}  // namespace sluice::pagerank
