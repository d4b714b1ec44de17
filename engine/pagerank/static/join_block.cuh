// What the threads of a block did, as one.
#pragma once

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

}  // namespace sluice::pagerank
