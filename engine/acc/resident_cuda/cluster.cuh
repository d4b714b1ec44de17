// A cluster of thread blocks (compute capability 9.0 or higher). They are resident together on neighbouring
// multiprocessors, and access each other's shared memory. Their hardware barrier takes a quarter of the time
// of a grid's.
#pragma once

#include <cooperative_groups.h>

#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

/// The maximum number of blocks (the portable maximum is 8). A small frontier of a search has as many reads
/// as their L1 caches can request in a microsecond.
inline constexpr unsigned kClusterBlocks = 16;
inline constexpr unsigned kClusterBlock = 1024;

// ---- kernels

/// For kernels that launch_cluster() launches.
struct ClusterTeam {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __device__ unsigned block() const {
    return cooperative_groups::this_cluster().block_rank();
  }
  /// Barrier of the cluster; earlier writes of its threads are visible to all of them after it.
  __device__ void sync() const {
    cooperative_groups::this_cluster().barrier_arrive();
    cooperative_groups::this_cluster().barrier_wait();
  }
  /// The address in another block's shared memory that corresponds to `local` in this block's.
  template <class T>
  __device__ T* remote(T* local, unsigned block) const {
    return cooperative_groups::this_cluster().map_shared_rank(local, block);
  }
#else  // never launched there: cluster_fits() returns false
  __device__ unsigned block() const {
    return 0;
  }
  __device__ void sync() const {}
  template <class T>
  __device__ T* remote(T* local, unsigned) const {
    return local;
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

/// Can this GPU run one cluster of the kernel, with `shared_bytes` of shared memory for each block? If so,
/// the kernel is ready to be launched.
template <class... Args>
bool cluster_fits(void (*kernel)(Args...), std::size_t shared_bytes) {
  if (cuda::gpu_attribute(cudaDevAttrClusterLaunch) == 0) return false;
  const auto set_attribute = [&](cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(kernel, attribute, value) == cudaSuccess;
  };
  const ClusterLaunch launch(shared_bytes, nullptr);
  int clusters = 0;
  const bool fits =
      set_attribute(cudaFuncAttributeNonPortableClusterSizeAllowed, 1) &&
      set_attribute(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)) &&
      cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config()) == cudaSuccess && clusters > 0;
  if (!fits) cudaGetLastError();  // clears the error, which the next launch check would report
  return fits;
}

template <class... Args>
void launch_cluster(void (*kernel)(Args...), std::size_t shared_bytes, const cuda::Stream& stream,
                    Args... args) {
  const ClusterLaunch launch(shared_bytes, &stream);
  cuda::check(cudaLaunchKernelEx(&launch.config(), kernel, args...), "launching a cluster");
}

}  // namespace sluice::acc
