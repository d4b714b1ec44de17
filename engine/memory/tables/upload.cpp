#include "engine/memory/tables/upload.hpp"

#include "engine/memory/tables/ensure_tables.hpp"
#if defined(__CUDACC__)
#include "engine/memory/tables/build_layouts.cuh"
#endif

namespace sluice {

namespace {

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
        cuda::for_each_edge(graph, make);
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
