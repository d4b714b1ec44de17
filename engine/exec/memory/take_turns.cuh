// Double buffering of data for a GPU: the host fills one buffer, a Place, while kernels use the other.
#pragma once

#include "engine/core/timeout.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

template <class Place>
class TakeTurns {
 public:
  /// Returns the next buffer, once the work on it is done; throws RunError with `label` if that work failed.
  Place& begin(const char* label) {
    turn_ = 1 - turn_;
    wait_until([&] { return used_[turn_].passed(label); }, label, kDeviceTimeout);
    return places_[turn_];
  }
  /// Marks the end of the work on this buffer; called after the last of it is queued on `stream`.
  void end(const Stream& stream) { used_[turn_].record(stream); }

  /// Calls make(place) for both buffers; before the first turn.
  template <class Make>
  void make(Make&& make) {
    for (Place& place : places_) make(place);
  }

 private:
  Place places_[2];
  Event used_[2];
  unsigned turn_ = 0;
};

}  // namespace sluice::cuda
