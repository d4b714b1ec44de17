// Makes what follows from the graph alone, on the GPU: exponents of weights, and edges with their targets'
// rows beside them. Kernels that no bias changes: only upload.cpp compiles them.
#pragma once

#include "engine/select/build_tables.cuh"

namespace sluice::cuda {

inline void build_exponents(const GraphView& graph, std::int16_t* exponents) {
  for_each_list(
      graph,
      [=] __device__(Tile<32> warp, Vertex v, const Row& row) {
        float largest = 0;
        for (std::uint32_t i = warp.rank(); i < row.degree; i += 32)
          largest = fmaxf(largest, graph.weight(row.offset + i));
        largest = warp.maximum(largest);
        if (warp.rank() == 0) exponents[v] = static_cast<std::int16_t>(weight_exponent(largest));
      },
      [=] __device__(Vertex v, const Row& row) {
        __shared__ unsigned largest;  // weights are not negative: their bits are ordered as they are
        if (threadIdx.x == 0) largest = 0;
        __syncthreads();
        float thread_largest = 0;
        for (std::uint32_t i = threadIdx.x; i < row.degree; i += kHubBlock)
          thread_largest = fmaxf(thread_largest, graph.weight(row.offset + i));
        atomicMax(&largest, __float_as_uint(thread_largest));
        __syncthreads();
        if (threadIdx.x == 0)
          exponents[v] = static_cast<std::int16_t>(weight_exponent(__uint_as_float(largest)));
        __syncthreads();
      });
}

/// One lane an edge: emit(position).
template <class Emit>
__global__ void __launch_bounds__(kTableBlock) edge_kernel(std::uint64_t edges, Emit emit) {
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (at < edges) emit(at);
}

template <class Emit>
void for_each_edge(const GraphView& graph, const Emit& emit) {
  edge_kernel<<<grid_for(graph.edges(), kTableBlock), kTableBlock>>>(graph.edges(), emit);
  check_launch("edge_kernel");
  wait_stream(nullptr, "building wide edges");
}

inline void build_wide_edges(const GraphView& graph, WideEdge* edges) {
  for_each_edge(graph, [=] __device__(EdgeIndex at) {
    const Vertex target = graph.target(at);
    edges[at] = {PackedRow::of(graph.row(target)), target, 0};
  });
}

inline void build_packed_edges(const GraphView& graph, EdgePacking packing, std::uint64_t* edges) {
  for_each_edge(graph, [=] __device__(EdgeIndex at) {
    const Vertex target = graph.target(at);
    edges[at] = packing.pack(target, graph.row(target));
  });
}

}  // namespace sluice::cuda
