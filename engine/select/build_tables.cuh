// Builds tables of a fixed bias on the GPU, by the same bodies as the host (build_tables.hpp). A warp builds
// each short list; a block builds each list of more than GraphView::kHubDegree edges, so that a hub does not
// delay the others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/backend.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/wide.hpp"
#include "engine/select/build_tables.hpp"
#include "engine/select/hub_alias.cuh"

namespace sluice::cuda {

inline constexpr unsigned kTableBlock = 256;  ///< eight warps: enough for latency, small enough to balance

// ---- kernels

/// One warp per list of the range: body(warp, vertex, row). Hubs are left to hub_kernel.
template <class Body>
__global__ void __launch_bounds__(kTableBlock) list_kernel(GraphView graph, ListRange range, Body body) {
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * (kTableBlock / 32);
  const std::uint64_t first = (static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x) / 32;
  for (std::uint64_t v = range.begin + first; v < range.end; v += warps) {
    const Row row = graph.row(static_cast<Vertex>(v));
    if (row.degree <= GraphView::kHubDegree) body(Tile<32>{}, static_cast<Vertex>(v), row);
  }
}

/// One block per hub: body(block, vertex, row).
template <class Body>
__global__ void __launch_bounds__(kHubBlock) hub_kernel(GraphView graph, Body body) {
  __shared__ typename BlockGroup<kHubBlock>::Workspace workspace;
  const Vertex v = graph.hubs[blockIdx.x];
  body(BlockGroup<kHubBlock>(workspace), v, graph.row(v));
}

/// Alias slots by the sweep of build_alias, one lane per list of the range: the sweep is sequential.
template <class BiasOf, class Emit>
__global__ void __launch_bounds__(kTableBlock)
    alias_kernel(GraphView graph, ListRange range, BiasOf bias, Emit emit) {
  const std::uint64_t v = range.begin + static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (v >= range.end) return;
  const Vertex vertex = static_cast<Vertex>(v);
  const Row row = graph.row(vertex);
  if (row.degree > GraphView::kHubDegree) return;
  list_alias(graph, bias, vertex, row, [&](std::uint32_t i, AliasSlot slot) { emit(row, i, slot); });
}

/// Positions [begin, end) of edges.
struct EdgeRange {
  EdgeIndex begin, end;
};

/// Resolves the indices that build_alias left in wide slots: see build_wide_alias.
static __global__ void __launch_bounds__(kTableBlock)
    resolve_alias_kernel(GraphView graph, EdgeRange edges, WideAlias* slots) {
  const EdgeIndex edge = edges.begin + static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (edge >= edges.end) return;
  WideAlias slot = slots[edge];
  if (slot.other == kNoVertex) {
    slots[edge] = WideAlias{};
    return;
  }
  slot.own = graph.target(edge);
  slot.other = graph.target(slot.other_row.bits);
  slot.own_row = PackedRow::of(graph.row(slot.own));
  slot.other_row = PackedRow::of(graph.row(slot.other));
  slots[edge] = slot;
}

// ---- launchers

/// Calls body(group, vertex, row) for the lists of `range`; `graph` must name the hubs in that range.
template <class Body>
void for_each_list(const GraphView& graph, const Body& body, ListRange range = {}) {
  constexpr unsigned kBlocks = 8;  // per multiprocessor
  range.end = std::min(range.end, graph.vertices());
  list_kernel<<<multiprocessors() * kBlocks, kTableBlock>>>(graph, range, body);
  check_launch("list_kernel");
  if (graph.hub_count > 0) {
    hub_kernel<<<graph.hub_count, kHubBlock>>>(graph, body);
    check_launch("hub_kernel");
  }
  wait_stream(nullptr, "building tables");
}

template <class BiasOf, class Emit>
void for_each_alias(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                    const BiasOf& bias, const Emit& emit, ListRange range = {}) {
  range.end = std::min(range.end, graph.vertices());
  if (range.begin >= range.end) return;
  alias_kernel<<<grid_for(range.end - range.begin, kTableBlock), kTableBlock>>>(graph, range, bias, emit);
  check_launch("alias_kernel");
  for_each_hub_alias(device, graph, max_degree, bias, emit);
  wait_stream(nullptr, "building alias tables");
}

/// Two passes, so that the sequential sweep waits for no random read. The sweep stores the other entry's
/// position in other_row; then every slot looks up both targets and their rows. `edges`: those of `range`.
template <class BiasOf>
void build_wide_alias(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                      const BiasOf& bias, WideAlias* slots, EdgeRange edges, ListRange range = {}) {
  if (edges.begin >= edges.end) return;
  for_each_alias(device, graph, max_degree, bias,
                 [=] __device__(const Row& row, std::uint32_t i, AliasSlot slot) {
                   WideAlias& wide = slots[row.offset + i];
                   wide.threshold = slot.threshold;
                   wide.other = slot.other;
                   wide.other_row.bits = row.offset + slot.other;
                 },
                 range);
  resolve_alias_kernel<<<grid_for(edges.end - edges.begin, kTableBlock), kTableBlock>>>(graph, edges, slots);
  check_launch("resolve_alias_kernel");
  wait_stream(nullptr, "building alias tables");
}

}  // namespace sluice::cuda
