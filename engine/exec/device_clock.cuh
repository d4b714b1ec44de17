// The time on a GPU: one clock for all its processors, which ticks once in a microsecond or faster.
#pragma once

namespace sluice::cuda {

__device__ inline unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace sluice::cuda
