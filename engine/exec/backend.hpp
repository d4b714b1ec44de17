// The part of the CUDA runtime that `exec` uses, as plain functions. device.cpp and buffer.cpp use CUDA only
// through them, so that a build without CUDA replaces one file, backend.cu, by no_cuda.cpp. Other folders
// take memory by Buffer (memory/buffer.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/timeout.hpp"

namespace sluice::cuda {

/// Deadline of a wait: no launch or copy takes an hour, unless it reads a large graph in host memory by edge.
inline constexpr Timeout kDeviceTimeout{3600};

struct DeviceProperties {
  std::string name;
  std::uint64_t free_bytes = 0;
  std::uint64_t baseline_bytes = 0;  ///< used before Sluice allocated anything
  unsigned multiprocessors = 1;
};

/// The UUID of each GPU that this process sees, by index; empty if CUDA is not usable.
std::vector<std::string> device_ids();
/// Whether a GPU is present and usable.
struct GpuState {
  bool present = false;
  std::string unusable_reason;  ///< why it cannot be used, in a few words; empty if it can
};

/// Queries the runtime, and whether this build has code for the GPU. Selects the GPU for the calling thread,
/// as open_device() does.
GpuState gpu_state(int index);
/// Opens a GPU for the calling thread; other threads select it by bind_thread().
DeviceProperties open_device(int index);
std::string version();

/// Returns null if the GPU has no memory left.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
/// Waits for all work of the GPU; a later call reports its errors.
void synchronize() noexcept;
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);

/// Makes the calling thread use the opened GPU: by default a thread uses the first one.
void bind_thread();
/// Page-locks existing memory, so that the GPU copies from it at full speed and can read it in place.
void register_host(const void* memory, std::size_t bytes);
void unregister_host(const void* memory) noexcept;
/// Creates a stream (cudaStream_t) that does not wait for the default stream.
void* open_stream();
void close_stream(void* stream) noexcept;
/// Starts a copy between device and page-locked memory.
void copy_async(void* to, const void* from, std::size_t bytes, void* stream);
/// Whether all work of a stream is done; throws RunError with `label` if the work failed.
bool stream_done(void* stream, const char* label);
/// Blocks until all work of a stream is done (null: the default stream). Throws RunError with `label` if the
/// work failed or `timeout` has passed. Runs wait for a GPU in no other way.
void wait_stream(void* stream, const char* label, Timeout timeout = kDeviceTimeout);

}  // namespace sluice::cuda
