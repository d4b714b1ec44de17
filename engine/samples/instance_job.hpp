// Shared by the kinds in which one group grows a whole instance (layer, node, edge, multidimensional): which
// instances a run makes, how many at once, and on which executor. On a GPU the group is a warp. A warp that
// would have to scan the list of a hub leaves its instance to a block, which grows it from the start. No draw
// depends on the size of the group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/batch/instance_run.hpp"
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

/// How many instances of `bytes` each run at once: `wanted`, or as many as fit half of the free memory. A
/// plan charges one instance only. Throws BudgetError if not one fits.
inline std::uint64_t instances_at_once(const Device& device, std::uint64_t bytes, std::uint64_t wanted) {
  if (device.is_planning()) {
    device.memory().charge_and_release(2 * bytes, "an instance");
    return 1;
  }
  constexpr std::uint64_t kMaxInstances = 1u << 16;  // warps; the GPU runs some 8,000 concurrently
  const std::uint64_t fit = device.memory().available() / 2 / std::max<std::uint64_t>(bytes, 1);
  if (fit == 0) {
    throw BudgetError("device memory: one instance needs " + format_size(bytes) + " besides the graph, but " +
                      format_size(device.memory().available()) + " are left (raise --device-memory)");
  }
  return std::max<std::uint64_t>(std::min({fit, wanted, kMaxInstances}), 1);
}

/// Copies elements [begin, begin + size) of a buffer to host memory.
template <class T>
std::vector<T> download(const Device& device, const Buffer<T>& buffer, std::uint64_t begin,
                        std::uint64_t size, RunStats& stats) {
  std::vector<T> host(size);
  copy_to_host(device, host.data(), buffer.data() + begin, size * sizeof(T));
  if (device.is_cuda()) stats.device_to_host_bytes += size * sizeof(T);
  return host;
}

inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

/// Runs a job on its device's executor. `Job` is an InstanceRun with a program and run<Executor>().
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
