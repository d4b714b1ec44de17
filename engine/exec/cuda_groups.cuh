// Kernels of CudaExecutor in which a group of lanes processes each index: a warp, or a block if a warp is
// known or found to be too small. A warp whose body returns false leaves its index to a block, which repeats
// the work from the start.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/group.cuh"

namespace sluice::cuda {

inline constexpr unsigned kGroupBlock = 128;  ///< four warps; small, since indices differ in work
inline constexpr unsigned kWideBlock = 256;   ///< eight warps, whose barriers are still cheap

/// About how many blocks of the kernels below a multiprocessor runs at once.
inline constexpr unsigned kResidentGroupBlocks = 8;

/// Indices that warps left to blocks; the host does not know their number.
struct DeferredIndices {
  std::uint64_t* indices = nullptr;
  unsigned long long* count = nullptr;
};

/// Adds the counters of a group's lanes to `sums`; one lane of the group writes.
template <class Group, class Counters>
__device__ __forceinline__ void add_counters(const Group& group, const Counters& counters,
                                             unsigned long long* sums) {
#pragma unroll
  for (unsigned i = 0; i != Counters::kSums; ++i) {
    const auto sum = group.sum(static_cast<unsigned long long>(counters.value(i)));
    if (group.rank() == 0 && sum > 0) atomicAdd(sums + i, sum);
  }
}

/// One warp per index below `count`; if there are fewer warps, each takes several indices.
template <class Counters, class Body>
__global__ void __launch_bounds__(kGroupBlock)
    warps_kernel(std::uint64_t count, Body body, DeferredIndices deferred, unsigned long long* sums) {
  constexpr unsigned kWarps = kGroupBlock / kWarp;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kWarps;
  const Tile<kWarp> warp;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp; i < count; i += warps) {
    Counters counters;
    if (body(warp, i, counters))
      add_counters(warp, counters, sums);
    else if (warp.rank() == 0)
      deferred.indices[atomicAdd(deferred.count, 1ull)] = i;
  }
}

/// One block per index: the indices in `deferred`, or all below `count` if `deferred` is null.
template <class Counters, class Body>
__global__ void __launch_bounds__(kWideBlock)
    blocks_kernel(std::uint64_t count, Body body, DeferredIndices deferred, unsigned long long* sums) {
  __shared__ typename BlockGroup<kWideBlock>::Workspace workspace;
  const BlockGroup<kWideBlock> block(workspace);
  if (deferred.count) count = *deferred.count;
  Counters counters;
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    body(block, deferred.count ? deferred.indices[i] : i, counters);
    block.sync();
  }
  add_counters(block, counters, sums);
}

/// Writes the key of each item, and the item itself; items without a key get `keys`, after all keys.
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

/// Finds where the items of each key begin among the sorted keys.
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
