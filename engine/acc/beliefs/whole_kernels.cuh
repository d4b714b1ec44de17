// Belief propagation on a GPU that has the graph whole: how it begins, and messages by a lane an edge. For
// one file alone.
#pragma once

#include "engine/acc/beliefs/kernels.cuh"
#include "engine/acc/beliefs/start.hpp"

namespace sluice::acc {

/// What is found out about the lists once.
struct BeliefLists {
  unsigned long long longest = 0;
  unsigned hubs = 0;
  unsigned missing = 0;  ///< not 0: an edge has no reverse
};

__global__ void __launch_bounds__(kBeliefBlock)
    belief_lists_kernel(CsrView lists, Vertex* hubs, BeliefLists* found) {
  unsigned long long longest = 0;
  for (std::uint64_t v = lane_of_grid(); v < lists.vertices; v += lanes_of_grid()) {
    const std::uint64_t degree = lists.offsets[v + 1] - lists.offsets[v];
    longest = degree > longest ? degree : longest;
    if (degree >= kHubDegree) hubs[atomicAdd(&found->hubs, 1u)] = static_cast<Vertex>(v);
  }
  longest = Tile<cuda::kWarp>{}.maximum(longest);
  if (threadIdx.x % cuda::kWarp == 0 && longest > 0) atomicMax(&found->longest, longest);
}

__global__ void __launch_bounds__(kBeliefBlock) reverse_kernel(BeliefStart start, BeliefLists* found) {
  for (EdgeIndex e = lane_of_grid(); e < start.lists.edges; e += lanes_of_grid()) {
    start.reverse[e] = start.reverse_of(start.owner(e), e);
    if (start.reverse[e] == BeliefStart::kNoEdge) atomicOr(&found->missing, 1u);
  }
}

__global__ void __launch_bounds__(kBeliefBlock) begin_messages_kernel(BeliefStart start) {
  for (EdgeIndex e = lane_of_grid(); e < start.lists.edges; e += lanes_of_grid()) start.begin_messages(e);
}

__global__ void __launch_bounds__(kBeliefBlock) begin_vertices_kernel(BeliefStart start) {
  for (std::uint64_t v = lane_of_grid(); v < start.lists.vertices; v += lanes_of_grid())
    start.begin_vertex(static_cast<Vertex>(v));
}

template <unsigned kStates>
__global__ void __launch_bounds__(kBeliefBlock)
    messages_kernel(BeliefPropagation program, const Vertex* targets, EdgeIndex edges, BeliefTotals* totals) {
  for (EdgeIndex e = lane_of_grid(); e < edges; e += lanes_of_grid()) {
    if (program.reverse[e] != e && !program.compute<kStates>(targets[e], e)) totals->take(-1);
  }
}

}  // namespace sluice::acc
