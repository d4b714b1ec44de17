#include "engine/memory/tables/upload.hpp"

#include "engine/memory/tables/ensure_tables.hpp"

namespace sluice {

namespace {

#if defined(__CUDACC__)
/// Calls make(position, target), one lane for each edge.
template <class Make>
__global__ void __launch_bounds__(cuda::kTableBlock) edge_kernel(GraphView graph, Make make) {
  const std::uint64_t position = static_cast<std::uint64_t>(blockIdx.x) * cuda::kTableBlock + threadIdx.x;
  if (position < graph.edges()) make(position, graph.target(position));
}
#endif

struct MakeWideEdges {
  GraphView graph;
  WideEdge* edges;

  SLUICE_HD void operator()(EdgeIndex position, Vertex target) const {
    edges[position] = {PackedRow::of(graph.row(target)), target, 0};
  }
};

struct MakePackedEdges {
  GraphView graph;
  EdgePacking packing;
  std::uint64_t* edges;

  SLUICE_HD void operator()(EdgeIndex position, Vertex target) const {
    edges[position] = packing.pack(target, graph.row(target));
  }
};

template <class Make>
void fill_edges(const Device& device, const GraphView& graph, const Make& make) {
  fill_table(
      device, [&] { host::for_each_edge(device.threads(), graph, make); },
      [&] {
#if defined(__CUDACC__)
        edge_kernel<<<cuda::grid_for(graph.edges(), cuda::kTableBlock), cuda::kTableBlock>>>(graph, make);
        cuda::check_launch("edge_kernel");
        cuda::wait_stream(nullptr, "building wide edges");
#endif
      });
}

}  // namespace

void build_exponents(const Device& device, const GraphView& graph, std::int16_t* exponents) {
  fill_lists(device, graph, MakeExponents{graph, exponents});
}

void build_wide_edges(const Device& device, const GraphView& graph, WideEdge* edges) {
  fill_edges(device, graph, MakeWideEdges{graph, edges});
}

void build_packed_edges(const Device& device, const GraphView& graph, EdgePacking packing,
                        std::uint64_t* edges) {
  fill_edges(device, graph, MakePackedEdges{graph, packing, edges});
}

}  // namespace sluice
