// Builds tables from a fixed bias, on the GPU: the same integers as on the host (build_tables.hpp).
// Short lists are worked on by one warp each; lists of more than GraphView::kHubDegree by a block each, so
// that a hub does not hold up the others.
#pragma once

#include <cstdint>

#include "engine/exec/backend.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/wide.hpp"
#include "engine/select/alias.hpp"
#include "engine/select/hub_alias.cuh"

namespace sluice::cuda {

inline constexpr unsigned kTableBlock = 256;  ///< eight warps: enough for latency, small enough to balance

// ---- kernels

/// One warp a list: body(warp, vertex, row). Hubs are left to for_each_hub.
template <class Body>
__global__ void __launch_bounds__(kTableBlock) list_kernel(GraphView graph, Body body) {
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * (kTableBlock / 32);
  const std::uint64_t first = (static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x) / 32;
  for (std::uint64_t v = first; v < graph.vertices(); v += warps) {
    const Row row = graph.row(static_cast<Vertex>(v));
    if (row.degree <= GraphView::kHubDegree) body(Tile<32>{}, static_cast<Vertex>(v), row);
  }
}

/// One block a hub: body(vertex, row).
template <class Body>
__global__ void __launch_bounds__(kHubBlock) hub_kernel(GraphView graph, Body body) {
  const Vertex v = graph.hubs[blockIdx.x];
  body(v, graph.row(v));
}

/// Resolves the indices that build_alias left in wide slots: see build_wide_alias.
static __global__ void __launch_bounds__(kTableBlock) resolve_alias_kernel(GraphView graph, WideAlias* slots);

// ---- launchers

template <class Warp, class Block>
void for_each_list(const GraphView& graph, const Warp& warp, const Block& block) {
  constexpr unsigned kBlocks = 8;  // of a multiprocessor
  list_kernel<<<multiprocessors() * kBlocks, kTableBlock>>>(graph, warp);
  check_launch("list_kernel");
  if (graph.hub_count > 0) {
    hub_kernel<<<graph.hub_count, kHubBlock>>>(graph, block);
    check_launch("hub_kernel");
  }
  wait_stream(nullptr, "building tables");
}

template <class BiasOf>
void build_ctps(const GraphView& graph, const BiasOf& bias, std::uint64_t* cumulative) {
  using Word = unsigned long long;
  for_each_list(
      graph,
      [=] __device__(Tile<32> warp, Vertex v, const Row& row) {
        Word below = 0;
        for (std::uint32_t base = 0; base < row.degree; base += 32) {
          const EdgeIndex at = row.offset + base + warp.rank();
          const bool inside = base + warp.rank() < row.degree;
          const Word sum =
              below +
              warp.inclusive_scan(inside ? Word{bias.edge_bias(graph, {v, graph.target(at), at})} : Word{0});
          if (inside) cumulative[at] = sum;
          below = warp.broadcast(sum, 31);
        }
      },
      [=] __device__(Vertex v, const Row& row) {
        __shared__ Word shared[32];
        __shared__ Word carry;
        Word below = 0;
        for (std::uint32_t base = 0; base < row.degree; base += kHubBlock) {
          const EdgeIndex at = row.offset + base + threadIdx.x;
          const bool inside = base + threadIdx.x < row.degree;
          const Word sum =
              below +
              block_scan(inside ? Word{bias.edge_bias(graph, {v, graph.target(at), at})} : Word{0}, shared);
          if (inside) cumulative[at] = sum;
          if (threadIdx.x == kHubBlock - 1) carry = sum;
          __syncthreads();
          below = carry;
          __syncthreads();
        }
      });
}

template <class BiasOf>
void build_bounds(const GraphView& graph, const BiasOf& bias, std::uint64_t* bounds,
                  std::uint32_t* positive) {
  using Word = unsigned long long;
  for_each_list(
      graph,
      [=] __device__(Tile<32> warp, Vertex v, const Row& row) {
        Word largest = 0;
        std::uint32_t count = 0;
        for (std::uint32_t i = warp.rank(); i < row.degree; i += 32) {
          const Word b = bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i});
          largest = b > largest ? b : largest;
          count += b > 0;
        }
        largest = warp.maximum(largest);
        count = warp.sum(count);
        if (warp.rank() == 0) bounds[v] = largest, positive[v] = count;
      },
      [=] __device__(Vertex v, const Row& row) {
        __shared__ Word largest;
        __shared__ std::uint32_t count;
        if (threadIdx.x == 0) largest = 0, count = 0;
        __syncthreads();
        Word thread_largest = 0;
        std::uint32_t thread_count = 0;
        for (std::uint32_t i = threadIdx.x; i < row.degree; i += kHubBlock) {
          const Word b = bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i});
          thread_largest = b > thread_largest ? b : thread_largest;
          thread_count += b > 0;
        }
        atomicMax(&largest, thread_largest);
        atomicAdd(&count, thread_count);
        __syncthreads();
        if (threadIdx.x == 0) bounds[v] = largest, positive[v] = count;
        __syncthreads();
      });
}

/// Alias slots by the sweep of build_alias, one lane a list: the sweep is sequential.
template <class BiasOf, class Emit>
__global__ void __launch_bounds__(kTableBlock) alias_kernel(GraphView graph, BiasOf bias, Emit emit) {
  const std::uint64_t v = static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (v >= graph.vertices()) return;
  const Vertex vertex = static_cast<Vertex>(v);
  const Row row = graph.row(vertex);
  if (row.degree > GraphView::kHubDegree) return;
  const auto bias_at = [&](std::uint32_t i) {
    return static_cast<std::uint64_t>(
        bias.edge_bias(graph, {vertex, graph.target(row.offset + i), row.offset + i}));
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < row.degree; ++i) total += bias_at(i);
  build_alias(row.degree, total, bias_at, [&](std::uint32_t i, AliasSlot slot) { emit(row, i, slot); });
}

template <class BiasOf, class Emit>
void for_each_alias(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                    const BiasOf& bias, const Emit& emit) {
  alias_kernel<<<grid_for(graph.vertices(), kTableBlock), kTableBlock>>>(graph, bias, emit);
  check_launch("alias_kernel");
  for_each_hub_alias(device, graph, max_degree, bias, emit);
  wait_stream(nullptr, "building alias tables");
}

template <class BiasOf>
void build_alias_slots(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                       const BiasOf& bias, std::uint64_t* thresholds, std::uint32_t* others) {
  for_each_alias(device, graph, max_degree, bias,
                 [=] __device__(const Row& row, std::uint32_t i, AliasSlot slot) {
                   thresholds[row.offset + i] = slot.threshold;
                   others[row.offset + i] = slot.other;
                 });
}

/// In two passes, so that the sequential sweep waits for no random read: the sweep leaves the other entry's
/// position in other_row, then every slot looks up both targets and their rows.
template <class BiasOf>
void build_wide_alias(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                      const BiasOf& bias, WideAlias* slots) {
  for_each_alias(device, graph, max_degree, bias,
                 [=] __device__(const Row& row, std::uint32_t i, AliasSlot slot) {
                   WideAlias& wide = slots[row.offset + i];
                   wide.threshold = slot.threshold;
                   wide.other = slot.other;
                   wide.other_row.bits = row.offset + slot.other;
                 });
  resolve_alias_kernel<<<grid_for(graph.edges(), kTableBlock), kTableBlock>>>(graph, slots);
  check_launch("resolve_alias_kernel");
  wait_stream(nullptr, "building alias tables");
}

static __global__ void __launch_bounds__(kTableBlock)
    resolve_alias_kernel(GraphView graph, WideAlias* slots) {
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kTableBlock + threadIdx.x;
  if (at >= graph.edges()) return;
  WideAlias slot = slots[at];
  if (slot.other == kNoVertex) {
    slots[at] = WideAlias{};
    return;
  }
  slot.own = graph.target(at);
  slot.other = graph.target(slot.other_row.bits);
  slot.own_row = PackedRow::of(graph.row(slot.own));
  slot.other_row = PackedRow::of(graph.row(slot.other));
  slots[at] = slot;
}

}  // namespace sluice::cuda
