#include "engine/exec/memory/copy_lane.hpp"

#include <cstring>

#include "engine/exec/backend.hpp"

namespace sluice {

CopyLane::CopyLane(const Device& device) : is_cuda_(device.is_cuda()) {
  if (!is_cuda_) return;
  cuda::bind_thread();
  stream_ = cuda::open_stream();
}

CopyLane::~CopyLane() {
  if (stream_) cuda::close_stream(stream_);
}

void CopyLane::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  is_cuda_ ? cuda::copy_async(to, from, bytes, stream_) : static_cast<void>(std::memcpy(to, from, bytes));
}

void CopyLane::wait(const char* label) {
  if (is_cuda_) cuda::wait_stream(stream_, label);
}

PageLock::PageLock(const Device& device, const void* memory, std::size_t bytes) {
  // Memory that is page-locked already stays locked longer than this object lives.
  if (!device.is_cuda() || device.is_planning() || bytes == 0 || cuda::is_page_locked(memory)) return;
  cuda::register_host(memory, bytes);
  memory_ = memory;
}

PageLock::~PageLock() {
  if (memory_) cuda::unregister_host(memory_);
}

}  // namespace sluice
