// The clock of a GPU: one for all its multiprocessors, which advances at least once a microsecond.
#pragma once

namespace sluice::cuda {

__device__ inline unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace sluice::cuda
