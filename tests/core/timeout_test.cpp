// Waits end at once, in time, at the deadline, or with an error.
#include "engine/core/timeout.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Timeout, AsksOnceWhereItIsDone) {
  int asked = 0;

  wait_until([&] { return ++asked == 1; }, "nothing", Timeout{0});

  EXPECT_EQ(asked, 1);
}

TEST(Timeout, WaitsAsLongAsItTakes) {
  for (const Timeout timeout : {Timeout{300}, kNoTimeout}) {
    const auto begin = Clock::now(), end = begin + std::chrono::milliseconds(30);

    wait_until([&] { return Clock::now() > end; }, "the end", timeout);

    EXPECT_GT(Clock::now(), end);
  }
}

TEST(Timeout, EndsAtTheDeadlineAndSaysWhere) {
  try {
    wait_until([] { return false; }, "a kernel that hangs", Timeout{0});
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "waited 0 s for a kernel that hangs, which did not finish");
  }
}

TEST(Timeout, HandsOnWhatWentWrong) {
  EXPECT_THROW(wait_until([]() -> bool { throw InputError("no"); }, "anything", kNoTimeout), InputError);
}

}  // namespace
}  // namespace sluice::test
