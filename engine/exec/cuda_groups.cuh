// Kernels of CudaExecutor that give each index to a group of lanes: a warp, or a block where a warp is known
// to be too small or turns out to be. A warp whose body returns false leaves its index to a block, which
// does the work anew.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/group.cuh"

namespace sluice::cuda {

inline constexpr unsigned kGroupBlock = 128;  ///< four warps; small, since indices differ in work
inline constexpr unsigned kWideBlock = 256;   ///< eight times a warp, and barriers stay cheap

/// Blocks of the kernels below that a multiprocessor holds at once, about.
inline constexpr unsigned kGroupBlocksAtOnce = 8;

/// Indices that warps left to blocks; their number is not known to the host.
struct LeftIndices {
  std::uint64_t* indices = nullptr;
  unsigned long long* count = nullptr;
};

/// Adds what the lanes of a group counted; one lane a group writes.
template <class Group, class Counters>
__device__ __forceinline__ void add_counters(const Group& group, const Counters& counters,
                                             unsigned long long* sums) {
#pragma unroll
  for (unsigned i = 0; i != Counters::kSums; ++i) {
    const auto sum = group.sum(static_cast<unsigned long long>(counters.value(i)));
    if (group.rank() == 0 && sum > 0) atomicAdd(sums + i, sum);
  }
}

/// One warp an index below `count`, and further ones where there are fewer warps.
template <class Counters, class Body>
__global__ void __launch_bounds__(kGroupBlock)
    warps_kernel(std::uint64_t count, Body body, LeftIndices left, unsigned long long* sums) {
  constexpr unsigned kWarps = kGroupBlock / kWarp;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kWarps;
  const Tile<kWarp> warp;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp; i < count; i += warps) {
    Counters counters;
    if (body(warp, i, counters))
      add_counters(warp, counters, sums);
    else if (warp.rank() == 0)
      left.indices[atomicAdd(left.count, 1ull)] = i;
  }
}

/// One block an index: those that were left, or where there is no list, all below `count`.
template <class Counters, class Body>
__global__ void __launch_bounds__(kWideBlock)
    blocks_kernel(std::uint64_t count, Body body, LeftIndices left, unsigned long long* sums) {
  __shared__ typename BlockGroup<kWideBlock>::Workspace workspace;
  const BlockGroup<kWideBlock> block(workspace);
  if (left.count) count = *left.count;
  Counters counters;
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    body(block, left.count ? left.indices[i] : i, counters);
    block.sync();
  }
  add_counters(block, counters, sums);
}

/// The key of an item, and the item itself; those without a key come behind all `keys`.
template <class KeyOf>
struct KeyItems {
  KeyOf key_of;
  std::uint32_t keys;
  std::uint32_t *item_keys, *items;

  template <class Lane>
  __device__ void operator()(std::uint64_t item, Lane&) const {
    item_keys[item] = min(key_of(item), keys);
    items[item] = static_cast<std::uint32_t>(item);
  }
};

/// Where the items of each key begin among sorted ones.
struct FindKeys {
  const std::uint32_t* sorted;
  std::uint64_t items;
  std::uint64_t* begins;

  template <class Lane>
  __device__ void operator()(std::uint64_t key, Lane&) const {
    begins[key] = count_below(sorted, items, static_cast<std::uint32_t>(key));
  }
};

}  // namespace sluice::cuda
