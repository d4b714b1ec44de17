// Makes edge layouts on the GPU, one lane for each edge. Only upload.cpp compiles it.
#pragma once

#include "engine/select/build_tables.cuh"

namespace sluice::cuda {

/// Calls make(position, target), one lane for each edge.
template <class Make>
__global__ void __launch_bounds__(kTableBlock) edge_kernel(GraphView graph, Make make) {
  const std::uint64_t position = static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (position < graph.edges()) make(position, graph.target(position));
}

template <class Make>
void for_each_edge(const GraphView& graph, const Make& make) {
  edge_kernel<<<grid_for(graph.edges(), kTableBlock), kTableBlock>>>(graph, make);
  check_launch("edge_kernel");
  wait_stream(nullptr, "building wide edges");
}

}  // namespace sluice::cuda
