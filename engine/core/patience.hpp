// Waiting for what may never come: with a deadline and a label, so that a job which hangs says where.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "engine/core/error.hpp"

namespace sluice {

/// How long somebody waits before what is waited for is taken for lost.
using Patience = std::chrono::seconds;
inline constexpr Patience kPatience{300};
/// For the end of a phase in which one rank may have hours more to do than another. A rank that fails or
/// disappears meanwhile ends the wait all the same.
inline constexpr Patience kUnlimited = Patience::max();

/// Asks done() until it says yes, at first as fast as it can, then after pauses that are short beside what
/// was waited already. Throws what done() throws, and RunError where patience ends.
template <class Done>
void wait_until(const Done& done, const char* label, Patience patience) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kAtOnce = std::chrono::milliseconds(2), kLongest = std::chrono::milliseconds(1);
  for (const Clock::time_point begin = Clock::now(); !done();) {
    const Clock::duration waited = Clock::now() - begin;
    if (patience != kUnlimited && waited > patience) {
      throw RunError("waited " + std::to_string(patience.count()) + " s for " + label +
                     ", and it did not end");
    }
    waited < kAtOnce ? std::this_thread::yield()
                     : std::this_thread::sleep_for(std::min(waited / 64, kLongest));
  }
}

}  // namespace sluice
