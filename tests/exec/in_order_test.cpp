// Parts that threads make side by side, and that are taken in order.
#include "engine/exec/algorithms/in_order.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice {
namespace {

/// Its parts are numbers, and made is their square.
struct Squares {
  explicit Squares(unsigned places, int parts) : results(places), count(parts) {}

  InOrder::Job job() {
    return {[this](unsigned place) {
              if (next == count) return false;
              results[place] = next++;
              return true;
            },
            [this](unsigned place) {
              // The first parts take longest.
              std::this_thread::sleep_for(std::chrono::microseconds(count - results[place]));
              results[place] *= results[place];
            },
            [this](unsigned place) { taken.push_back(results[place]); }};
  }

  std::vector<int> results, taken;
  int next = 0, count;
};

TEST(InOrder, TakesPartsInTheOrderInWhichTheyBegan) {
  for (const unsigned threads : {1u, 3u, 8u}) {
    for (const unsigned places : {1u, 2u, 16u}) {
      InOrder in_order(threads, places);
      for (const int count : {0, 1, 5, 60}) {  // the second run is like the first
        Squares squares(places, count);
        in_order.run(squares.job());

        ASSERT_EQ(squares.taken.size(), static_cast<std::size_t>(count)) << threads << ' ' << places;
        for (int i = 0; i < count; ++i) EXPECT_EQ(squares.taken[static_cast<std::size_t>(i)], i * i);
      }
    }
  }
}

TEST(InOrder, ThrowsTheFirstExceptionAndIsUsableAgain) {
  InOrder in_order(3, 4);
  for (const bool in_make : {true, false}) {
    Squares failing(4, 40);
    InOrder::Job job = failing.job();
    (in_make ? job.make : job.take) = [&, bad = in_make ? 7 : 49](unsigned place) {
      if (failing.results[place] == bad) throw std::runtime_error("bad");
    };
    EXPECT_THROW(in_order.run(job), std::runtime_error);

    Squares squares(4, 40);
    in_order.run(squares.job());
    EXPECT_EQ(squares.taken.size(), 40u);
  }
}

}  // namespace
}  // namespace sluice
