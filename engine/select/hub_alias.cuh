// Alias slots of hubs: the sweep of build_alias in parallel, one block per hub.
//
// Let the light entries' deficits (total - own) and the heavy entries' excesses (own - total) be summed in
// index order. The sweep pairs a light entry with the current heavy one: the first whose summed excess is
// above the deficits before the light entry. A heavy entry ends at the first light entry before which the
// deficits reach its summed excess; it then has total + excess - deficits left. So every slot follows from
// two prefix sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/alias.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice::cuda {

inline constexpr unsigned kHubBlock = 1024;  ///< the largest block, since it takes one hub at a time

/// Inclusive scan over a block of kHubBlock threads; every thread must call it.
template <class T>
__device__ __forceinline__ T block_inclusive_scan(T value, T* shared) {
  const Tile<32> warp;
  const unsigned index = threadIdx.x / 32;
  const T sum = warp.inclusive_scan(value);
  if (warp.rank() == 31) shared[index] = sum;
  __syncthreads();
  if (index == 0) shared[warp.rank()] = warp.inclusive_scan(shared[warp.rank()]);
  __syncthreads();
  const T below = index == 0 ? T{0} : shared[index - 1];
  __syncthreads();
  return below + sum;
}

/// Light entries from the front, heavy ones from the back, each in index order with its prefix sum.
struct HubScratch {
  unsigned __int128* sums;  ///< light: deficits before it; heavy: excesses up to and including it
  std::uint32_t* indices;
};

// ---- kernels

template <class BiasOf, class Emit>
__global__ void __launch_bounds__(kHubBlock)
    hub_alias_kernel(GraphView graph, BiasOf bias, Emit emit, HubScratch scratch,
                     std::uint64_t scratch_stride) {
  using Wide = unsigned __int128;
  using Word = unsigned long long;
  __shared__ Wide wide[32];
  __shared__ Word words[32];
  __shared__ Wide deficits, excesses;
  __shared__ Word lights, total;
  Wide* const sums = scratch.sums + blockIdx.x * scratch_stride;
  std::uint32_t* const indices = scratch.indices + blockIdx.x * scratch_stride;
  for (std::uint32_t hub = blockIdx.x; hub < graph.hub_count; hub += gridDim.x) {
    const Vertex v = graph.hubs[hub];
    const Row row = graph.row(v);
    const auto bias_at = [&](std::uint32_t i) {
      return static_cast<Word>(bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i}));
    };
    const auto own = [&](std::uint32_t i) { return static_cast<Wide>(bias_at(i)) * row.degree; };
    Word thread_sum = 0;
    for (std::uint32_t i = threadIdx.x; i < row.degree; i += kHubBlock) thread_sum += bias_at(i);
    const Word sum = block_inclusive_scan(thread_sum, words);
    if (threadIdx.x == kHubBlock - 1) total = sum;
    if (threadIdx.x == 0) deficits = excesses = 0, lights = 0;
    __syncthreads();
    if (total == 0) {
      for (std::uint32_t i = threadIdx.x; i < row.degree; i += kHubBlock)
        emit(row, i, AliasSlot{0, kNoVertex});
      __syncthreads();
      continue;
    }
    for (std::uint32_t base = 0; base < row.degree; base += kHubBlock) {
      const std::uint32_t i = base + threadIdx.x;
      const bool in_range = i < row.degree;
      const Wide mass = in_range ? own(i) : 0;
      const bool light = in_range && mass <= total, heavy = in_range && !light;
      const Word order = block_inclusive_scan(Word{light}, words);
      const Wide deficit = light ? total - mass : 0, below = block_inclusive_scan(deficit, wide);
      const Wide excess = block_inclusive_scan(heavy ? mass - total : Wide{0}, wide);
      if (light) {
        indices[lights + order - 1] = i;
        sums[lights + order - 1] = deficits + below - deficit;
      } else if (heavy) {
        const std::uint64_t position =
            row.degree - 1 - (i - (lights + order));  // heavy entries before: i - lights before
        indices[position] = i;
        sums[position] = excesses + excess;
      }
      __syncthreads();
      if (threadIdx.x == kHubBlock - 1) lights += order, deficits += below, excesses += excess;
      __syncthreads();
    }
    const auto heavies = static_cast<std::uint32_t>(row.degree - lights);
    const AliasThresholds threshold(total);
    for (std::uint32_t k = threadIdx.x; k < row.degree; k += kHubBlock) {
      const std::uint32_t i = indices[k];
      const Wide mass = own(i), limit = sums[k];
      if (k < lights) {
        if (mass == total) {
          emit(row, i, AliasSlot{~std::uint64_t{0}, i});
          continue;
        }
        // First heavy entry with a sum above `limit`.
        const std::uint32_t low =
            count_while(heavies, [&](std::uint32_t i) { return sums[row.degree - 1 - i] <= limit; });
        emit(row, i, AliasSlot{threshold(static_cast<Word>(mass)), indices[row.degree - 1 - low]});
      } else {
        // First light entry before which the deficits reach `limit`.
        const std::uint64_t low = count_while(lights, [&](std::uint64_t i) { return sums[i] < limit; });
        const Wide remaining = total + limit - (low < lights ? sums[low] : deficits);
        const bool full =
            remaining == total || k == lights;  // the last heavy entry is right after the light ones
        emit(row, i,
             full ? AliasSlot{~std::uint64_t{0}, i}
                  : AliasSlot{threshold(static_cast<Word>(remaining)), indices[k - 1]});
      }
    }
    __syncthreads();
  }
}

// ---- launchers

template <class BiasOf, class Emit>
void for_each_hub_alias(const Device& device, const GraphView& graph, std::uint32_t max_degree,
                        const BiasOf& bias, const Emit& emit) {
  if (graph.hub_count == 0) return;
  const unsigned blocks = hub_blocks(device, graph.hub_count, max_degree);
  const Buffer<unsigned __int128> sums(device, std::uint64_t{blocks} * max_degree, "scratch of alias tables");
  const Buffer<std::uint32_t> indices(device, std::uint64_t{blocks} * max_degree, "scratch of alias tables");
  hub_alias_kernel<<<blocks, kHubBlock>>>(graph, bias, emit, HubScratch{sums.data(), indices.data()},
                                          max_degree);
  check_launch("hub_alias_kernel");
  wait_stream(nullptr, "building alias tables");
}

}  // namespace sluice::cuda
