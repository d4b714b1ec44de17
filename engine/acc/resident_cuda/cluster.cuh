// A cluster of thread blocks (compute capability 9.0 on): they are resident together on neighbouring
// processors, wait for each other at a barrier of the hardware's, a quarter of what one of a grid takes, and
// reach each other's shared memory.
#pragma once

#include <cooperative_groups.h>

#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

/// As many as there can be, where the portable most is 8: a search's small frontier is as much as their
/// first-level caches can ask for in a microsecond.
inline constexpr unsigned kClusterBlocks = 16;
inline constexpr unsigned kClusterBlock = 1024;

// ---- kernels

/// Only in kernels that launch_cluster() has launched.
struct ClusterTeam {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __device__ unsigned block() const {
    return cooperative_groups::this_cluster().block_rank();
  }
  /// What threads of the cluster have written before is there for all of them behind it.
  __device__ void sync() const {
    cooperative_groups::this_cluster().barrier_arrive();
    cooperative_groups::this_cluster().barrier_wait();
  }
  /// Where a block has what is at `own` in this one's shared memory.
  template <class T>
  __device__ T* of(T* own, unsigned block) const {
    return cooperative_groups::this_cluster().map_shared_rank(own, block);
  }
#else  // never launched there: cluster_fits() says no
  __device__ unsigned block() const {
    return 0;
  }
  __device__ void sync() const {}
  template <class T>
  __device__ T* of(T* own, unsigned) const {
    return own;
  }
#endif
};

// ---- kernel launchers

class ClusterLaunch {
 public:
  ClusterLaunch(std::size_t shared_bytes, const cuda::Stream* stream) {
    size_.id = cudaLaunchAttributeClusterDimension;
    size_.val.clusterDim = {kClusterBlocks, 1, 1};
    config_.gridDim = dim3(kClusterBlocks);
    config_.blockDim = dim3(kClusterBlock);
    config_.dynamicSmemBytes = shared_bytes;
    config_.stream = stream == nullptr ? nullptr : stream->get();
    config_.attrs = &size_;
    config_.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  const cudaLaunchConfig_t& config() const { return config_; }

 private:
  cudaLaunchAttribute size_{};
  cudaLaunchConfig_t config_{};
};

/// Can this GPU run one cluster of the kernel, a block with so much shared memory? The kernel is then ready
/// to be launched.
template <class... Args>
bool cluster_fits(void (*kernel)(Args...), std::size_t shared_bytes) {
  if (cuda::gpu_attribute(cudaDevAttrClusterLaunch) == 0) return false;
  const auto allow = [&](cudaFuncAttribute what, int value) {
    return cudaFuncSetAttribute(kernel, what, value) == cudaSuccess;
  };
  const ClusterLaunch launch(shared_bytes, nullptr);
  int clusters = 0;
  const bool fits = allow(cudaFuncAttributeNonPortableClusterSizeAllowed, 1) &&
                    allow(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)) &&
                    cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config()) == cudaSuccess &&
                    clusters > 0;
  if (!fits) cudaGetLastError();  // it is none, but the next check of a launch would find it
  return fits;
}

template <class... Args>
void launch_cluster(void (*kernel)(Args...), std::size_t shared_bytes, const cuda::Stream& stream,
                    Args... args) {
  const ClusterLaunch launch(shared_bytes, &stream);
  cuda::check(cudaLaunchKernelEx(&launch.config(), kernel, args...), "launching a cluster");
}

}  // namespace sluice::acc
