#include "engine/memory/tables/upload.hpp"

#include "engine/select/build_tables.hpp"
#if defined(__CUDACC__)
#include "engine/memory/tables/build_layouts.cuh"
#endif

namespace sluice {

void build_exponents(const Device& device, const GraphView& graph, std::int16_t* exponents) {
  if (device.plans()) return;
#if defined(__CUDACC__)
  if (device.is_cuda()) return cuda::build_exponents(graph, exponents);
#endif
  host::build_exponents(device.threads(), graph, exponents);
}

void build_wide_edges(const Device& device, const GraphView& graph, WideEdge* edges) {
  if (device.plans()) return;
#if defined(__CUDACC__)
  if (device.is_cuda()) return cuda::build_wide_edges(graph, edges);
#endif
  host::build_wide_edges(device.threads(), graph, edges);
}

void build_packed_edges(const Device& device, const GraphView& graph, EdgePacking packing,
                        std::uint64_t* edges) {
  if (device.plans()) return;
#if defined(__CUDACC__)
  if (device.is_cuda()) return cuda::build_packed_edges(graph, packing, edges);
#endif
  host::build_packed_edges(device.threads(), graph, packing, edges);
}

}  // namespace sluice
