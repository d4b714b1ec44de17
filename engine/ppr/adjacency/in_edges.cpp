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
  if (!graph.directed || are_stored(graph)) return 0;
  // Records are sorted by their targets (partition/build.hpp), and then written into rows.
  const std::uint64_t weight = graph.out.weights.empty() ? 0 : sizeof(float),
                      time = graph.out.times.empty() ? 0 : sizeof(std::int64_t);
  const std::uint64_t record = 2 * sizeof(Vertex) + weight + time, entry = sizeof(Vertex) + weight + time;
  return graph.edges() * (2 * record + entry) + (graph.vertices() + 1) * sizeof(EdgeIndex);
}

}  // namespace sluice::ppr
