#pragma once

#include <chrono>

namespace sluice {

/// Seconds since an arbitrary fixed point; the difference of two values times a phase.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace sluice
