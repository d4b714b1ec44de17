// Positions of appended entries, taken from counters by many threads at once. Warps and blocks add for all
// their lanes together: atomics on one counter wait for each other, a nanosecond each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/exec/grid.cuh"

namespace sluice::cuda {

/// With at most this many keys, a block counts in shared memory.
inline constexpr std::uint32_t kSharedKeys = 2048;

/// Bytes of shared memory that claim_block_position() needs.
constexpr std::size_t position_scratch_bytes(std::uint32_t keys) {
  return keys <= kSharedKeys ? keys * (sizeof(unsigned long long) + sizeof(unsigned)) : 0;
}

/// Returns a position for each lane in the mask `lanes`, by one addition to *next. All lanes in the mask
/// `active_lanes` call it; those that are not in `lanes` get no position.
template <class Count>
__device__ __forceinline__ Count claim_positions(Count* next, unsigned lanes, unsigned active_lanes) {
  const unsigned lane = threadIdx.x % kWarp,
                 first = static_cast<unsigned>(__ffs(static_cast<int>(lanes))) - 1;
  Count position = 0;
  if (lane == first) position = atomicAdd(next, static_cast<Count>(__popc(lanes)));
  position = __shfl_sync(active_lanes, position, static_cast<int>(first));
  return position + static_cast<Count>(__popc(lanes & ((1u << lane) - 1)));
}

/// Returns a position from the counter positions[key]; active lanes with the same key add together.
template <class Count>
__device__ __forceinline__ Count claim_position(Count* positions, std::uint32_t key) {
  const unsigned peers = __match_any_sync(__activemask(), key);
  return claim_positions(positions + key, peers, peers);
}

/// The same for whole warps. A lane that does not take part must have a key of no lane that does.
template <class Count>
__device__ __forceinline__ Count claim_position(Count* positions, std::uint32_t key, bool participates) {
  const unsigned peers = __match_any_sync(~0u, key);
  return claim_positions(positions + key, participates ? peers : 0, ~0u);
}

/// Sets positions[i] to a position from the counter next[entry_keys[i]], for each of a thread's entries; an
/// entry whose key entry_keys[i] is `keys` gets none. With at most kSharedKeys keys, a block's entries of one
/// key get consecutive positions, its warps in any order. Whole blocks call it; `shared` has
/// position_scratch_bytes(keys).
template <unsigned kEntries>
__device__ __forceinline__ void claim_block_positions(unsigned long long* next,
                                                      const std::uint32_t (&entry_keys)[kEntries],
                                                      std::uint32_t keys, unsigned long long* shared,
                                                      unsigned long long (&positions)[kEntries]) {
  if (keys > kSharedKeys) {
#pragma unroll
    for (unsigned i = 0; i < kEntries; ++i)
      positions[i] = claim_position(next, entry_keys[i], entry_keys[i] < keys);
    return;
  }
  auto* const counts = reinterpret_cast<unsigned*>(shared + keys);
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) counts[k] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kEntries; ++i)
    positions[i] = claim_position(counts, entry_keys[i], entry_keys[i] < keys);
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) {
    if (counts[k] != 0) shared[k] = atomicAdd(&next[k], static_cast<unsigned long long>(counts[k]));
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kEntries; ++i)
    if (entry_keys[i] < keys) positions[i] += shared[entry_keys[i]];
}

/// The same for one entry per thread; returns its position.
__device__ __forceinline__ unsigned long long claim_block_position(unsigned long long* next,
                                                                   std::uint32_t key, std::uint32_t keys,
                                                                   unsigned long long* shared) {
  const std::uint32_t entry_keys[] = {key};
  unsigned long long positions[1];
  claim_block_positions(next, entry_keys, keys, shared, positions);
  return positions[0];
}

}  // namespace sluice::cuda
