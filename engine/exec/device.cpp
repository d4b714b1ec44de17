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

std::string cuda_version() {
  return cuda::version();
}

Device::Device(const DeviceOptions& options) : threads_(options.threads ? options.threads : usable_cores()) {
  const bool host = options.choice == DeviceChoice::host;
  const std::string reason = host ? "asked for the host" : cuda::unusable_reason();
  if (options.choice == DeviceChoice::cuda && !reason.empty()) {
    throw UsageError("--device cuda: no usable GPU (" + reason + "); use --device host or auto");
  }
  reason.empty() ? open_cuda(options.device_memory) : open_host(options.device_memory);
}

void Device::open_host(std::uint64_t ceiling) {
  kind_ = DeviceKind::host;
  name_ = "host, " + std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
  memory_.set_ceiling(ceiling ? ceiling : std::numeric_limits<std::uint64_t>::max());
}

void Device::open_cuda(std::uint64_t ceiling) {
  kind_ = DeviceKind::cuda;
  const cuda::DeviceFacts facts = cuda::open_device();
  name_ = facts.name;
  baseline_ = facts.baseline_bytes;
  // A margin of a twentieth stays free for the driver, the libraries' own buffers and fragmentation.
  const std::uint64_t free = facts.free_bytes - facts.free_bytes / 20;
  memory_.set_ceiling(ceiling ? ceiling : free);
}

}  // namespace sluice
