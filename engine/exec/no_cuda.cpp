// The backend interface (backend.hpp) in a build without CUDA.
#if !defined(SLUICE_HAVE_CUDA)

#include <cstring>
#include <new>

#include "engine/core/error.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/memory/link.hpp"

namespace sluice::cuda {

std::vector<std::string> device_ids() {
  return {};
}
GpuState gpu_state(int) {
  return {false, "this build has no CUDA backend"};
}
DeviceProperties open_device(int index) {
  throw UsageError("--device cuda: " + gpu_state(index).unusable_reason);
}
std::string version() {
  return "not built";
}

void* allocate(std::size_t) {
  throw std::bad_alloc();
}
void release(void*) noexcept {}
void synchronize() noexcept {}
void* allocate_pinned(std::size_t) {
  throw std::bad_alloc();
}
void release_pinned(void*) noexcept {}
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void bind_thread() {}
void register_host(const void*, std::size_t) {}
void unregister_host(const void*) noexcept {}
bool is_page_locked(const void*) {
  return false;
}
void* open_stream() {
  return nullptr;
}
void close_stream(void*) noexcept {}
void copy_async(void* to, const void* from, std::size_t bytes, void*) {
  std::memcpy(to, from, bytes);
}
bool stream_done(void*, const char*) {
  return true;
}
void wait_stream(void*, const char*, Timeout) {}
LinkRates measure_link(const Device&, std::span<const std::uint32_t>) {
  return {};
}

}  // namespace sluice::cuda

#endif
