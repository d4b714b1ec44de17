#include "engine/exec/device.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/exec/backend.hpp"

namespace sluice {

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string usable_core_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "all";
  std::string text;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    text += std::to_string(core);
    text += ',';
  }
  return text;
}

std::vector<std::string> visible_gpus() {
  return cuda::device_ids();
}

std::string cuda_version() {
  return cuda::version();
}

Device::Device(const DeviceOptions& options) : threads_(options.threads ? options.threads : usable_cores()) {
  const bool host = options.choice == DeviceChoice::host;
  const std::string reason = host ? "the host was requested" : cuda::gpu_state(options.gpu).unusable_reason;
  if (options.choice == DeviceChoice::cuda && !reason.empty()) {
    throw UsageError("--device cuda: no usable GPU (" + reason + "); use --device host or auto");
  }
  reason.empty() ? open_cuda(options) : open_host(options.device_memory);
}

Device::Device(const Device& other, MemoryPlan& plan)
    : kind_(other.kind_),
      threads_(other.threads_),
      multiprocessors_(other.multiprocessors_),
      name_(other.name_),
      baseline_(other.baseline_),
      memory_(&plan) {}

void Device::open_host(std::uint64_t ceiling) {
  kind_ = DeviceKind::host;
  name_ = "host, " + std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
  own_memory_.set_ceiling(ceiling ? ceiling : std::numeric_limits<std::uint64_t>::max());
  own_memory_.nest_in(host_budget());
}

void Device::open_cuda(const DeviceOptions& options) {
  kind_ = DeviceKind::cuda;
  const cuda::DeviceProperties properties = cuda::open_device(options.gpu);
  name_ = properties.name;
  baseline_ = properties.baseline_bytes;
  multiprocessors_ = properties.multiprocessors;
  // A margin of a twentieth stays free for the driver, the libraries' own buffers and fragmentation.
  const std::uint64_t free = properties.free_bytes - properties.free_bytes / 20;
  const std::uint64_t share = free / static_cast<std::uint64_t>(options.gpu_ranks);
  own_memory_.set_ceiling(options.device_memory ? options.device_memory : share);
}

}  // namespace sluice
