// Two places for what is on its way to a GPU: the host fills one while kernels work on the other.
#pragma once

#include "engine/core/timeout.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

template <class Place>
class TakeTurns {
 public:
  /// The next place, once the work on it is done; an error of that surfaces here, under `label`.
  Place& begin(const char* label) {
    turn_ = 1 - turn_;
    wait_until([&] { return used_[turn_].passed(label); }, label, kDeviceTimeout);
    return places_[turn_];
  }
  /// Behind the last work on this place.
  void end(const Stream& stream) { used_[turn_].record(stream); }

  /// For each place, before the first turn.
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
