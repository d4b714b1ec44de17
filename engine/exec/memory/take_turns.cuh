// Double buffering of data for a GPU: the host fills one buffer, a Slot, while kernels use the other.
#pragma once

#include "engine/core/timeout.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

template <class Slot>
class DoubleBuffer {
 public:
  /// Returns the next buffer, once the work on it is done; throws RunError with `label` if that work failed.
  Slot& acquire(const char* label) {
    current_ = 1 - current_;
    wait_until([&] { return in_use_[current_].is_complete(label); }, label, kDeviceTimeout);
    return buffers_[current_];
  }
  /// Marks the end of the work on this buffer; called after the last of it is queued on `stream`.
  void release(const Stream& stream) { in_use_[current_].record(stream); }

  /// Calls use(buffer) for both buffers; before the first acquire().
  template <class Use>
  void for_each_buffer(Use&& use) {
    for (Slot& buffer : buffers_) use(buffer);
  }

 private:
  Slot buffers_[2];
  Event in_use_[2];
  unsigned current_ = 0;
};

}  // namespace sluice::cuda
