// Kernels of walks on a graph in partitions that depend on the sampler: begin, and go on as far as the
// partitions here allow.
#pragma once

#include <cstdint>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/walks/advance.cuh"
#include "engine/walks/partitioned/walk.hpp"
#include "engine/walks/walk_cuda.cuh"

namespace sluice::cuda {

/// Keys up to which a block counts arrivals in shared memory.
inline constexpr std::uint32_t kSharedKeys = 8192;

/// A batch's walks in device memory.
struct PagedBatchView {
  ParkedWalk* parked;
  ParkedQuestion* questions;    ///< null where nothing is asked
  std::uint32_t* keys;          ///< [walks] where each waits
  const std::uint32_t* order;   ///< walks by key
  Vertex* paths;                ///< [walks][row]
  std::uint64_t row;            ///< the steps of a leg and one more
  unsigned long long* waiting;  ///< [keys] arrivals are added
  WalkCounters* counters;
};

/// Parts of `order` that are worked on: those of the partitions that are here.
struct PagedSegments {
  static constexpr unsigned kMost = 64;
  std::uint64_t begin[kMost];   ///< in `order`
  std::uint64_t before[kMost];  ///< walks of the segments before
  unsigned count;
  std::uint64_t walks;

  __device__ __forceinline__ std::uint64_t position(std::uint64_t i) const {
    unsigned low = 0;
    for (unsigned step = kMost / 2; step > 0; step /= 2) {
      if (low + step < count && before[low + step] <= i) low += step;
    }
    return begin[low] + (i - before[low]);
  }
};

/// Adds one to waiting[key] for every lane that takes part; whole blocks call it.
static __device__ __forceinline__ void count_arrivals(std::uint32_t key, bool takes_part, std::uint32_t keys,
                                                      unsigned long long* waiting, unsigned* shared) {
  if (keys > kSharedKeys) {
    if (takes_part) atomicAdd(&waiting[key], 1ull);
    return;
  }
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) shared[k] = 0;
  __syncthreads();
  if (takes_part) atomicAdd(&shared[key], 1u);
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) {
    if (shared[k] != 0) atomicAdd(&waiting[k], static_cast<unsigned long long>(shared[k]));
  }
}

template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    begin_paged_kernel(PagedWalks<Program> walks, PagedBatchView batch, std::uint64_t count) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  std::uint32_t key = 0;
  if (index < count) {
    const Walker walker = walks.begin(index);
    batch.parked[index] = walks.park(walker);
    if constexpr (PagedWalks<Program>::kAsks) batch.questions[index] = {};
    batch.paths[index * batch.row] = walker.start;
    key = walks.first_key(index, walker);
    batch.keys[index] = key;
  }
  count_arrivals(key, index < count, walks.keys(), batch.waiting, arrivals);
}

/// One walk of the segments, as far as it goes; returns where it waits then. All lanes of a warp call it.
template <class Program>
__device__ __forceinline__ std::uint32_t advance_walk(const PagedWalks<Program>& walks,
                                                      const PagedBatchView& batch,
                                                      const PagedSegments& segments, std::uint64_t at,
                                                      bool takes_part) {
  std::uint32_t rounds = 0, steps = 0;
  typename PagedWalks<Program>::Place place;
  if (takes_part || Program::kScans) {  // scans want whole warps
    Walker walker;
    std::uint32_t index = 0;
    Vertex* path = nullptr;
    if (takes_part) {
      index = batch.order[segments.position(at)];
      walker = walks.resume(index, batch.parked[index]);
      if constexpr (PagedWalks<Program>::kAsks) place.question = batch.questions[index];
      path = batch.paths + index * batch.row;
      steps = walker.step;
    }
    const auto store = [&](std::uint32_t step, Vertex v) { path[step - walks.from] = v; };
    advance(walks, walker, place, takes_part && walker.step < walks.until, store, rounds);
    if (takes_part) {
      batch.parked[index] = walks.park(walker);
      if constexpr (PagedWalks<Program>::kAsks) batch.questions[index] = place.question;
      batch.keys[index] = place.key;
      count_walk(batch.counters, walker.step - steps, rounds);
      if (place.read > 0) {
        atomicAdd(&batch.counters[blockIdx.x % kWalkCounterSlots].read,
                  static_cast<unsigned long long>(place.read));
      }
    }
  }
  return place.key;
}

/// A grid may be smaller than the segments: then its blocks go on with what others have not taken.
template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    paged_walk_kernel(PagedWalks<Program> walks, PagedBatchView batch, PagedSegments segments) {
  extern __shared__ unsigned arrivals[];
  for (std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock; first < segments.walks;
       first += static_cast<std::uint64_t>(gridDim.x) * kWalkBlock) {
    const std::uint64_t at = first + threadIdx.x;
    const bool takes_part = at < segments.walks;
    const std::uint32_t key = advance_walk(walks, batch, segments, at, takes_part);
    count_arrivals(key, takes_part, walks.keys(), batch.waiting, arrivals);
  }
}

}  // namespace sluice::cuda
