#pragma once

#include <chrono>

namespace sluice {

/// Seconds since an arbitrary point, for phases.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace sluice
