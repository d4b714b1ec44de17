// What a compiled kernel takes: registers, and how many of its blocks a GPU runs at once. Also the launch of
// kernels whose blocks wait for each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

/// Threads that a multiprocessor of the target GPU runs at once (CUDA C++ Programming Guide, "Compute
/// Capabilities"). Kernels that must be able to fill it bound their registers by it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr unsigned kMaxResidentThreads = 1024;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || \
                                 __CUDA_ARCH__ >= 1100)
inline constexpr unsigned kMaxResidentThreads = 1536;
#else
inline constexpr unsigned kMaxResidentThreads = 2048;
#endif

/// An attribute of the calling thread's GPU.
inline unsigned gpu_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return static_cast<unsigned>(std::max(0, value));
}
inline unsigned multiprocessors() {
  return std::max(1u, gpu_attribute(cudaDevAttrMultiProcessorCount));
}

/// Registers of a thread of a kernel.
template <class... Args>
unsigned registers_of(void (*kernel)(Args...)) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "the kernel's registers");
  return static_cast<unsigned>(attributes.numRegs);
}

/// The number of blocks of a kernel that the GPU runs at once, at least one.
template <class... Args>
unsigned resident_blocks(void (*kernel)(Args...), unsigned block, std::size_t shared_bytes) {
  int blocks_per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel,
                                                      static_cast<int>(block), shared_bytes),
        "the kernel's occupancy");
  return multiprocessors() * static_cast<unsigned>(std::max(1, blocks_per_multiprocessor));
}

/// Launches a persistent kernel: all of its blocks run at the same time. Each gets `shared_bytes` of dynamic
/// shared memory.
template <class... Args>
void launch_cooperative(void (*kernel)(Args...), unsigned blocks, unsigned block, std::size_t shared_bytes,
                        cudaStream_t stream, std::type_identity_t<Args>... args) {
  void* pointers[] = {&args...};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block),
                                    pointers, shared_bytes, stream),
        "launching a persistent kernel");
}
template <class... Args>
void launch_cooperative(void (*kernel)(Args...), unsigned blocks, unsigned block, cudaStream_t stream,
                        std::type_identity_t<Args>... args) {
  launch_cooperative(kernel, blocks, block, std::size_t{0}, stream, args...);
}

}  // namespace sluice::cuda
