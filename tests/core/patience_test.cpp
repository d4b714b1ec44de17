// Waits end when they should: at once, in time, at the deadline, or with what went wrong.
#include "engine/core/patience.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Patience, AsksOnceWhereItIsDone) {
  int asked = 0;

  wait_until([&] { return ++asked == 1; }, "nothing", Patience{0});

  EXPECT_EQ(asked, 1);
}

TEST(Patience, WaitsAsLongAsItTakes) {
  for (const Patience patience : {Patience{300}, kUnlimited}) {
    const auto begin = Clock::now(), end = begin + std::chrono::milliseconds(30);

    wait_until([&] { return Clock::now() > end; }, "the end", patience);

    EXPECT_GT(Clock::now(), end);
  }
}

TEST(Patience, EndsAtTheDeadlineAndSaysWhere) {
  try {
    wait_until([] { return false; }, "a kernel that hangs", Patience{0});
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "waited 0 s for a kernel that hangs, and it did not end");
  }
}

TEST(Patience, HandsOnWhatWentWrong) {
  EXPECT_THROW(wait_until([]() -> bool { throw InputError("no"); }, "anything", kUnlimited), InputError);
}

}  // namespace
}  // namespace sluice::test
