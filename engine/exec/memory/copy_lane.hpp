// Copies between host and device that go on beside other work: a thread that makes some has a lane of its
// own.
#pragma once

#include <cstddef>

#include "engine/exec/device.hpp"

namespace sluice {

/// One stream of copies, used by one thread, the one that made it.
class CopyLane {
 public:
  explicit CopyLane(const Device& device);
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;
  ~CopyLane();

  /// Starts a copy between page-locked and device memory (host backend: does it), which must stay until
  /// `wait`.
  void copy(void* to, const void* from, std::size_t bytes);
  /// Blocks until all copies are done; an error surfaces here, under `label`.
  void wait(const char* label);

 private:
  bool is_cuda_;
  void* stream_ = nullptr;
};

/// Fewer bytes are copied before memory is page-locked.
inline constexpr std::size_t kWorthLocking = std::size_t{1} << 20;

namespace cuda {
/// Is memory page-locked in any way? `memory` is its first byte.
bool is_page_locked(const void* memory);
}  // namespace cuda

/// Memory that exists already, and is in the host's budget, page-locked for as long as this lives; nothing on
/// the host backend.
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
