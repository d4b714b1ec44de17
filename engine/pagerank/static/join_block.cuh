// What the threads of a block did, as one.
#pragma once

#include <cstdint>

#include "engine/pagerank/options.hpp"

namespace sluice::pagerank {

/// Joins the totals of a block of `Block` threads; thread 0 has them.
template <unsigned Block, class Totals>
__device__ void join_block(Totals& totals, RankNorm norm) {
  // Raw bytes: shared memory takes no constructors.
  __shared__ alignas(Totals) unsigned char workspace[Block * sizeof(Totals)];
  auto* const shared = reinterpret_cast<Totals*>(workspace);
  shared[threadIdx.x] = totals;
  for (unsigned stride = Block / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) shared[threadIdx.x].join(shared[threadIdx.x + stride], norm);
  }
  totals = shared[threadIdx.x];
}

/// The totals of `count` parts, by one block; thread 0 has them.
template <unsigned Block, class Totals>
__device__ Totals fold_parts(const Totals* partial, unsigned count, RankNorm norm) {
  Totals sum;
  for (unsigned i = threadIdx.x; i < count; i += Block) sum.join(partial[i], norm);
  join_block<Block>(sum, norm);
  return sum;
}

/// The sum over as many lanes of a warp, in all of them.
template <unsigned Lanes>
__device__ std::uint64_t sum_lanes(std::uint64_t value) {
  for (unsigned stride = Lanes / 2; stride > 0; stride /= 2) {
    value += __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), static_cast<int>(stride), Lanes);
  }
  return value;
}

}  // namespace sluice::pagerank
