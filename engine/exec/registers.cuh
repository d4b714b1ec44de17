// The resources of a compiled kernel.
#pragma once

#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

/// Registers per thread.
template <class... Args>
unsigned registers_of(void (*kernel)(Args...)) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "the kernel's registers");
  return static_cast<unsigned>(attributes.numRegs);
}

}  // namespace sluice::cuda
