// What `exec` needs of the CUDA runtime, as plain functions; device.cpp and buffer.cpp call nothing else, so
// that a build without CUDA replaces this one file (no_cuda.cpp). No other folder calls the CUDA runtime for
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/timeout.hpp"

namespace sluice::cuda {

/// No launch and no copy takes an hour, unless it reads a large graph in host memory edge by edge.
inline constexpr Timeout kDeviceTimeout{3600};

struct DeviceFacts {
  std::string name;
  std::uint64_t free_bytes = 0;
  std::uint64_t baseline_bytes = 0;  ///< used before Sluice allocated anything
  unsigned multiprocessors = 1;
};

/// What identifies each GPU that this process sees, whatever number it has here; none if CUDA is not usable.
std::vector<std::string> device_ids();
/// Whether a GPU can be worked on.
struct GpuState {
  bool present = false;
  std::string unusable;  ///< why not, in a few words; empty: it can
};

/// Asks the runtime, down to whether this build has code that the GPU runs; takes the GPU for the calling
/// thread, as open_device() does.
GpuState gpu_state(int index);
/// Opens a GPU for the calling thread; other threads take it by bind_thread().
DeviceFacts open_device(int index);
std::string version();

/// Null: there is none left.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
/// Waits for whatever the GPU was given; an error of it surfaces later.
void settle() noexcept;
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);

/// Makes the calling thread use the GPU that was opened: a thread's own default is the first.
void bind_thread();
/// Page-locks memory that exists already, so that the GPU copies from it at full speed and can read it.
void register_host(const void* memory, std::size_t bytes);
void unregister_host(const void* memory) noexcept;
/// A stream (cudaStream_t) of its own.
void* open_stream();
void close_stream(void* stream) noexcept;
/// Between device and page-locked memory.
void copy_async(void* to, const void* from, std::size_t bytes, void* stream);
/// Whether all work of a stream is done; an error of it surfaces here, under `label`.
bool stream_done(void* stream, const char* label);
/// Blocks until all work of a stream is done (null: the default one); an error of it surfaces here, under
/// `label`, and RunError where timeout ends. The one way to wait for a GPU.
void wait_stream(void* stream, const char* label, Timeout timeout = kDeviceTimeout);

}  // namespace sluice::cuda
