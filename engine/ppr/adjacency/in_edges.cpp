#include "engine/ppr/adjacency/in_edges.hpp"

#include "partition/build.hpp"

namespace sluice::ppr {

namespace {

bool are_stored(const Graph& graph) {
  return !graph.in.offsets.empty() && graph.in.targets.size() == graph.edges();
}

}  // namespace

InEdges::InEdges(const Graph& graph, unsigned threads) : stored_(graph.directed ? graph.in : graph.out) {
  if (graph.directed && !are_stored(graph)) made_ = transpose(graph.out, threads);
}

std::uint64_t InEdges::peak_bytes(const Graph& graph) {
  return !graph.directed || are_stored(graph) ? 0 : transpose_bytes(graph.out, graph.edges()).most;
}

}  // namespace sluice::ppr
