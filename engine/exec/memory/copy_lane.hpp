// Copies between host and device that overlap with other work. Each copying thread has its own lane.
#pragma once

#include <cstddef>

#include "engine/exec/device.hpp"

namespace sluice {

/// One stream of copies, used only by the thread that created it.
class CopyLane {
 public:
  explicit CopyLane(const Device& device);
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;
  ~CopyLane();

  /// Starts a copy between page-locked and device memory (host backend: copies at once). Both must stay valid
  /// until wait().
  void copy(void* to, const void* from, std::size_t bytes);
  /// Blocks until all copies are done; throws RunError with `label` if one failed.
  void wait(const char* label);

 private:
  bool is_cuda_;
  void* stream_ = nullptr;
};

/// Bytes from which page-locking pays: a copy of fewer ends before their memory is page-locked.
inline constexpr std::size_t kMinLockedBytes = std::size_t{1} << 20;

namespace cuda {
/// Whether memory is page-locked, by whatever call. `memory` is its first byte.
bool is_page_locked(const void* memory);
}  // namespace cuda

/// Page-locks existing memory, which is charged to the host's budget already, as long as this object lives.
/// Does nothing on the host backend.
class PageLock {
 public:
  PageLock() = default;
  PageLock(const Device& device, const void* memory, std::size_t bytes);
  PageLock(PageLock&& other) noexcept : memory_(other.memory_) { other.memory_ = nullptr; }
  PageLock& operator=(PageLock&&) = delete;
  ~PageLock();

 private:
  const void* memory_ = nullptr;
};

}  // namespace sluice
