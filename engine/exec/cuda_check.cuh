// Turns a failed CUDA call into a RunError that names the call.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "engine/core/error.hpp"

namespace sluice::cuda {

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw RunError(std::string("CUDA: ") + call + ": " + cudaGetErrorString(status));
  }
}

/// After a launch: reports a bad configuration at once; errors of the kernel itself surface at the next wait.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

/// Whether the work that a query of a stream or event asked for is done; throws RunError if it failed.
inline bool is_done(cudaError_t query, const char* label) {
  if (query != cudaErrorNotReady) {
    check(query, label);
    return true;
  }
  cudaGetLastError();  // not an error, but the next check of a launch would report it
  return false;
}

/// The number of blocks of `block` threads for `count` items, never zero.
inline unsigned grid_for(std::size_t count, unsigned block) {
  const std::size_t blocks = (count + block - 1) / block;
  return static_cast<unsigned>(blocks == 0 ? 1 : blocks);
}

}  // namespace sluice::cuda
