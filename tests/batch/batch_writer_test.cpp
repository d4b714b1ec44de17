// The writer that runs beside the current batch.
#include "engine/batch/batch_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice {
namespace {

TEST(BatchWriter, WritesInOrderOneAtATime) {
  std::vector<int> order;
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  BatchWriter writer;

  for (int i = 0; i < 50; ++i) {
    writer.submit([&, i] {
      if (++inside != 1) overlapped = true;
      if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      order.push_back(i);
      --inside;
    });
  }
  writer.finish();

  EXPECT_FALSE(overlapped);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(BatchWriter, ThrowsWhatAWriteThrewAtTheNextSubmit) {
  BatchWriter writer;
  bool reached = false;
  writer.submit([] { throw std::runtime_error("the disk is full"); });

  EXPECT_THROW(writer.submit([&] { reached = true; }), std::runtime_error);
  EXPECT_FALSE(reached);
  EXPECT_NO_THROW(writer.finish()) << "thrown once";
}

TEST(BatchWriter, ThrowsAtFinishAndWaitsWhenDestroyed) {
  bool written = false;
  {
    BatchWriter writer;
    writer.submit([] { throw std::runtime_error("the disk is full"); });
    EXPECT_THROW(writer.finish(), std::runtime_error);
    writer.submit([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      written = true;
    });
  }
  EXPECT_TRUE(written);
}

TEST(BatchWriter, KnowsThatAWriteFailed) {
  BatchWriter writer;
  writer.submit([] {});
  writer.finish();
  EXPECT_FALSE(writer.failed());
  writer.submit([] { throw std::runtime_error("the disk is full"); });
  EXPECT_THROW(writer.finish(), std::runtime_error);
  EXPECT_TRUE(writer.failed());
}

TEST(BatchWriter, AddsUpWhatItsCallerWaited) {
  double waited = 0;
  BatchWriter writer(&waited);
  writer.submit([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  EXPECT_EQ(waited, 0) << "nothing was waited for yet";
  writer.finish();
  EXPECT_GT(waited, 0);
}

}  // namespace
}  // namespace sluice
