// Where work runs: the host's cores, or one GPU. A Device is the first argument of everything that computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/memory_budget.hpp"

namespace sluice {

enum class DeviceKind { host, cuda };
enum class DeviceChoice { automatic, host, cuda };

struct DeviceOptions {
  DeviceChoice choice = DeviceChoice::automatic;  ///< automatic: a GPU if one is usable
  unsigned threads = 0;                           ///< host backend; 0: the cores this process may use
  std::uint64_t device_memory = 0;                ///< ceiling in bytes; 0: the free memory less a margin
  int gpu = 0;                                    ///< index among the GPUs that this process sees
  int gpu_ranks = 1;                              ///< processes that share it, and its memory by default
};

/// One rank's processor and its memory budget. Immovable: buffers keep a pointer to it.
class Device {
 public:
  /// Opens the host or the GPU. Throws UsageError if CUDA is requested but no GPU is usable (or CUDA was not
  /// built).
  explicit Device(const DeviceOptions& options = {});
  /// A copy of `other` for a run that is only planned: memory is charged to `plan` but not allocated.
  /// Both must outlive the copy.
  Device(const Device& other, MemoryPlan& plan);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceKind kind() const { return kind_; }
  bool is_cuda() const { return kind_ == DeviceKind::cuda; }
  unsigned threads() const { return threads_; }
  /// Multiprocessors of the GPU; 0 on the host.
  unsigned multiprocessors() const { return multiprocessors_; }
  /// Budget of device memory. On the host backend it bounds tables and queues in the same way, which are then
  /// charged to the host's budget too.
  MemoryBudget& memory() const { return *memory_; }
  /// Whether the run is only planned: it makes all choices and charges, and ends before its first batch.
  bool is_planning() const { return memory_->counts_only(); }
  /// `NVIDIA H200` or `host, 2 threads`.
  const std::string& name() const { return name_; }
  /// Device bytes in use when the GPU was opened: the CUDA context, and other processes. 0 on the host.
  std::uint64_t baseline_bytes() const { return baseline_; }

 private:
  void open_host(std::uint64_t ceiling);
  void open_cuda(const DeviceOptions& options);

  DeviceKind kind_ = DeviceKind::host;
  unsigned threads_ = 1, multiprocessors_ = 0;
  std::string name_;
  std::uint64_t baseline_ = 0;
  mutable MemoryBudget own_memory_{"device"};
  MemoryBudget* memory_ = &own_memory_;
};

/// The most bytes that `make(device)` would allocate at once on a device like this one; allocates none.
template <class Make>
std::uint64_t planned_bytes(const Device& device, Make&& make) {
  MemoryPlan memory(device.memory());
  const Device counting(device, memory);
  make(counting);
  return memory.needed();
}

/// Versions of the CUDA runtime and driver for `--version`: "13.0 (driver 13.0)" or "not built".
std::string cuda_version();

/// The number of cores this process may use (its affinity mask, not the machine's), and a name of that set.
unsigned usable_cores();
std::string usable_core_set();

/// The UUID of each GPU that this process sees, in CUDA's order.
std::vector<std::string> visible_gpus();

}  // namespace sluice
