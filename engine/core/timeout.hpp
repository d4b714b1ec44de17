// Waiting with a deadline and a label, so that a job that hangs reports where.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "engine/core/error.hpp"

namespace sluice {

/// How long a wait may last before it fails.
using Timeout = std::chrono::seconds;
/// For waits that something else ends if they are in vain: another rank may compute for hours.
inline constexpr Timeout kNoTimeout = Timeout::max();

/// The time that this process has waited while it ran: hours for which a job is suspended do not count.
class AwakeTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// Adds the time since the last call, at most 100 ms, and returns the sum. Calls are a few milliseconds
  /// apart unless the process was stopped.
  Clock::duration update() {
    constexpr Clock::duration kMaxStep = std::chrono::milliseconds(100);
    const Clock::time_point now = Clock::now(), before = std::exchange(last_, now);
    return elapsed_ += std::min(now - before, kMaxStep);
  }

 private:
  Clock::time_point last_ = Clock::now();
  Clock::duration elapsed_{};
};

/// Calls done() until it returns true: for 2 ms as fast as possible, then with pauses of at most 1 ms that
/// are short beside the time waited so far. Throws what done() throws, and RunError after `timeout`.
template <class Done>
void wait_until(const Done& done, const char* label, Timeout timeout) {
  using Duration = AwakeTime::Clock::duration;
  constexpr Duration kSpinTime = std::chrono::milliseconds(2), kMaxPause = std::chrono::milliseconds(1);
  for (AwakeTime time; !done();) {
    const Duration waited = time.update();
    if (timeout != kNoTimeout && waited > timeout) {
      throw RunError("waited " + std::to_string(timeout.count()) + " s for " + label +
                     ", which did not finish");
    }
    waited < kSpinTime ? std::this_thread::yield()
                       : std::this_thread::sleep_for(std::min(waited / 64, kMaxPause));
  }
}

}  // namespace sluice
