// What the kinds have in common whose instance one group grows whole (layer, node, edge, multidimensional):
// which instances a run makes, how many at once, and on which executor. On a GPU the group is a warp, or a
// block where a warp is too small: one that meets a hub whose list it would have to walk leaves its instance
// to a block, which grows it anew. No draw depends on the size of a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/batch/instance_run.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/host_executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#if defined(__CUDACC__)
#include "engine/exec/cuda_executor.cuh"
#endif
#include "engine/core/build_namespace.hpp"

namespace sluice::samples {

/// How many instances of `bytes` each fit at once: all that are wanted, or what half of the free memory
/// holds. Where a run is only planned, it takes what one needs.
inline std::uint64_t instances_at_once(const Device& device, std::uint64_t bytes, std::uint64_t wanted) {
  if (device.plans()) {
    device.memory().charge_and_release(2 * bytes, "an instance");
    return 1;
  }
  constexpr std::uint64_t kEnough = 1u << 16;  // warps; the GPU runs some 8,000 side by side
  const std::uint64_t fit = device.memory().available() / 2 / std::max<std::uint64_t>(bytes, 1);
  if (fit == 0) {
    throw BudgetError("device memory: one instance needs " + format_size(bytes) + " beside the graph, but " +
                      format_size(device.memory().available()) + " are left (raise --device-memory)");
  }
  return std::max<std::uint64_t>(std::min({fit, wanted, kEnough}), 1);
}

/// Elements [from, from + size) of a buffer, in host memory.
template <class T>
std::vector<T> bring(const Device& device, const Buffer<T>& buffer, std::uint64_t from, std::uint64_t size,
                     RunStats& stats) {
  std::vector<T> host(size);
  copy_to_host(device, host.data(), buffer.data() + from, size * sizeof(T));
  if (device.is_cuda()) stats.device_to_host_bytes += size * sizeof(T);
  return host;
}

inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// A job is an InstanceRun that adds its program, and run<Executor>().
template <class Job>
void run_instances(const Job& job) {
  job.stats.instances = job.instances();
  if (job.idle()) return;
  on_backend(
      job.graph.device, [&] { job.template run<HostExecutor>(); },
      [&] {
#if defined(__CUDACC__)
        job.template run<cuda::CudaExecutor>();
#endif
      });
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples
