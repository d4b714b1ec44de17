// One thread's output in kernels of CudaExecutor and CudaTraverser.
#pragma once

#include "engine/exec/algorithms/places.cuh"
#include "engine/exec/executor.hpp"
#include "engine/exec/grid.cuh"

namespace sluice::cuda {

class CudaLane {
 public:
  static constexpr bool kBinsByLevel = false, kPullsIntoBits = false;

  __device__ explicit CudaLane(const LaneOutput& output) : output_(output) {}

  /// Active lanes of a warp that append to the same list add to its size together.
  __device__ void append(unsigned list, Vertex v) {
    output_.lists[output_.begins[list] + claim_position(output_.sizes, list)] = v;
  }
  __device__ void lowest(unsigned long long value) { lowest_ = value < lowest_ ? value : lowest_; }
  __device__ void add(unsigned sum, unsigned long long value) { sums_[sum] += value; }

  /// Combines this lane's sums and lowest value into the output; every lane of the warp must call it.
  __device__ void report() {
    const unsigned long long lowest = warp_min(lowest_);
    const bool first = threadIdx.x % kWarp == 0;
    if (first && lowest != ~0ull) atomicMin(output_.lowest, lowest);
    for (unsigned i = 0; i < LaneOutput::kSums; ++i) {
      const unsigned long long sum = warp_sum(sums_[i]);
      if (first && sum != 0) atomicAdd(output_.sums + i, sum);
    }
  }

 private:
  LaneOutput output_;
  unsigned long long sums_[LaneOutput::kSums] = {};
  unsigned long long lowest_ = ~0ull;
};

}  // namespace sluice::cuda
