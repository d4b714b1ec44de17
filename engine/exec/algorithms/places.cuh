// Positions of appended entries, taken from counters by many threads at once. Warps and blocks add for all
// their lanes together: atomics on one counter wait for each other, a nanosecond each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/exec/grid.cuh"

namespace sluice::cuda {

/// With at most this many keys, a block counts in shared memory.
inline constexpr std::uint32_t kSharedKeys = 2048;

/// Bytes of shared memory that place_behind() needs.
constexpr std::size_t place_bytes(std::uint32_t keys) {
  return keys <= kSharedKeys ? keys * (sizeof(unsigned long long) + sizeof(unsigned)) : 0;
}

/// Returns a position for each lane in the mask `lanes`, by one addition to *next. All lanes in the mask
/// `come` call it; those that are not in `lanes` get no position.
template <class Count>
__device__ __forceinline__ Count take_places(Count* next, unsigned lanes, unsigned come) {
  const unsigned lane = threadIdx.x % kWarp,
                 first = static_cast<unsigned>(__ffs(static_cast<int>(lanes))) - 1;
  Count place = 0;
  if (lane == first) place = atomicAdd(next, static_cast<Count>(__popc(lanes)));
  place = __shfl_sync(come, place, static_cast<int>(first));
  return place + static_cast<Count>(__popc(lanes & ((1u << lane) - 1)));
}

/// Returns a position from the counter places[key]; active lanes with the same key add together.
template <class Count>
__device__ __forceinline__ Count take_place(Count* places, std::uint32_t key) {
  const unsigned peers = __match_any_sync(__activemask(), key);
  return take_places(places + key, peers, peers);
}

/// The same for whole warps. A lane that does not take part must have a key of no lane that does.
template <class Count>
__device__ __forceinline__ Count take_place(Count* places, std::uint32_t key, bool takes_part) {
  const unsigned peers = __match_any_sync(~0u, key);
  return take_places(places + key, takes_part ? peers : 0, ~0u);
}

/// Sets places[i] to a position from the counter next[of[i]], for each of a thread's entries; an entry whose
/// key of[i] is `keys` gets none. With at most kSharedKeys keys, a block's entries of one key get consecutive
/// positions, its warps in any order. Whole blocks call it; `shared` has place_bytes(keys).
template <unsigned kEntries>
__device__ __forceinline__ void places_behind(unsigned long long* next, const std::uint32_t (&of)[kEntries],
                                              std::uint32_t keys, unsigned long long* shared,
                                              unsigned long long (&places)[kEntries]) {
  if (keys > kSharedKeys) {
#pragma unroll
    for (unsigned i = 0; i < kEntries; ++i) places[i] = take_place(next, of[i], of[i] < keys);
    return;
  }
  auto* const counts = reinterpret_cast<unsigned*>(shared + keys);
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) counts[k] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kEntries; ++i) places[i] = take_place(counts, of[i], of[i] < keys);
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) {
    if (counts[k] != 0) shared[k] = atomicAdd(&next[k], static_cast<unsigned long long>(counts[k]));
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kEntries; ++i)
    if (of[i] < keys) places[i] += shared[of[i]];
}

/// The same for one entry per thread; returns its position.
__device__ __forceinline__ unsigned long long place_behind(unsigned long long* next, std::uint32_t key,
                                                           std::uint32_t keys, unsigned long long* shared) {
  const std::uint32_t of[] = {key};
  unsigned long long places[1];
  places_behind(next, of, keys, shared, places);
  return places[0];
}

}  // namespace sluice::cuda
