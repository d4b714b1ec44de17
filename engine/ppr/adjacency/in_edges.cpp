#include "engine/ppr/adjacency/in_edges.hpp"

#include "partition/build.hpp"

namespace sluice::ppr {

namespace {

bool are_made(const Graph& graph) {
  return graph.directed && (graph.in.offsets.empty() || graph.in.targets.size() != graph.edges());
}

}  // namespace

InEdges::InEdges(const Device& device, const Graph& graph)
    : stored_(graph.directed && !are_made(graph) ? graph.in : graph.out) {
  if (device.plans()) {
    host_budget().charge_and_release(peak_bytes(graph), "in-edges");
  } else if (are_made(graph)) {
    made_ = transpose(graph.out, device.threads());
  }
}

std::uint64_t InEdges::peak_bytes(const Graph& graph) {
  return are_made(graph) ? transpose_bytes(graph.out, graph.edges()).most : 0;
}

}  // namespace sluice::ppr
