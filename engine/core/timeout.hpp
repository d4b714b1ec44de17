// Waiting for what may never come: with a deadline and a label, so that a job which hangs says where.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "engine/core/error.hpp"

namespace sluice {

/// How long somebody waits before what is waited for is taken for lost.
using Timeout = std::chrono::seconds;
/// Where something else ends a wait in vain: another rank may work for hours.
inline constexpr Timeout kNoTimeout = Timeout::max();

/// Time for which this process has waited itself. A job that was suspended overnight has not waited.
class AwakeTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// Adds what passed since the last call, and returns the sum. Between two calls pass a few milliseconds,
  /// unless the process was stopped.
  Clock::duration pass() {
    constexpr Clock::duration kMost = std::chrono::milliseconds(100);
    const Clock::time_point now = Clock::now(), before = std::exchange(last_, now);
    return passed_ += std::min(now - before, kMost);
  }

 private:
  Clock::time_point last_ = Clock::now();
  Clock::duration passed_{};
};

/// Asks done() until it says yes, at first as fast as it can, then after pauses that are short beside what
/// was waited already. Throws what done() throws, and RunError where timeout ends.
template <class Done>
void wait_until(const Done& done, const char* label, Timeout timeout) {
  using Duration = AwakeTime::Clock::duration;
  constexpr Duration kAtOnce = std::chrono::milliseconds(2), kLongest = std::chrono::milliseconds(1);
  for (AwakeTime time; !done();) {
    const Duration waited = time.pass();
    if (timeout != kNoTimeout && waited > timeout) {
      throw RunError("waited " + std::to_string(timeout.count()) + " s for " + label +
                     ", and it did not end");
    }
    waited < kAtOnce ? std::this_thread::yield()
                     : std::this_thread::sleep_for(std::min(waited / 64, kLongest));
  }
}

}  // namespace sluice
