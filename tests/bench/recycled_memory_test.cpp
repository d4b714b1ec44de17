// Memory that is kept for reuse serves later requests, and is released if memory is short.
#include "apps/bench/replay/recycled_memory.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice::test {
namespace {

using bench::RecycledMemory;

constexpr std::uint64_t kMiB = 1u << 20;

class Recycled : public testing::Test {
 protected:
  void SetUp() override { before_ = host_budget().ceiling(), used_ = host_budget().used(); }
  void TearDown() override { host_budget().set_ceiling(before_); }

  HostArray<std::uint64_t> array(HostMemory& memory, std::uint64_t bytes) {
    auto made = make_host_array<std::uint64_t>(&memory, bytes / 8, "a test");
    if (!made.empty()) made[0] = made[made.size() - 1] = 7;
    return made;
  }
  std::uint64_t used() const { return host_budget().used() - used_; }

  Device device_{{DeviceChoice::host, 1, 0}};
  std::uint64_t before_ = 0, used_ = 0;
};

TEST_F(Recycled, ServesArraysOfAboutOneSizeFromTwoBlocks) {
  RecycledMemory memory(device_);
  auto one = array(memory, 4 * kMiB), two = array(memory, 4 * kMiB);
  const std::uint64_t *first = one.data(), *second = two.data();
  const std::uint64_t both = used();
  EXPECT_LE(both, 9 * kMiB);

  for (int batch = 0; batch < 6; ++batch) {
    one = {};
    EXPECT_EQ(used(), both) << "what the array left is kept";
    one = array(memory, 4 * kMiB + static_cast<std::uint64_t>(batch) * 1024);
    EXPECT_TRUE(one.data() == first || one.data() == second);
    EXPECT_EQ(used(), both) << "and serves again";
    std::swap(one, two);
  }
}

TEST_F(Recycled, IsTooLargeForMuchSmallerArraysAndTooSmallForLargerOnes) {
  RecycledMemory memory(device_);
  array(memory, 4 * kMiB);

  EXPECT_GT(array(memory, 8 * kMiB).size(), 0u);
  const std::uint64_t both = used();
  EXPECT_GE(both, 12 * kMiB) << "both are kept";
  const auto little = array(memory, kMiB);
  EXPECT_GE(used(), both + kMiB) << "and neither serves";
  EXPECT_EQ(array(memory, 0).size(), 0u);
}

TEST_F(Recycled, GivesWayToItsNextArrayWhereMemoryIsShort) {
  RecycledMemory memory(device_);
  const auto kept = array(memory, 2 * kMiB);
  const std::uint64_t used_by_kept = used();
  array(memory, 4 * kMiB);
  host_budget().set_ceiling(host_budget().used() + kMiB);

  const auto wanted = array(memory, 9 * kMiB / 2);

  EXPECT_GE(used(), used_by_kept + wanted.bytes());
  EXPECT_LE(used(), used_by_kept + 5 * kMiB) << "nothing is spare";
  EXPECT_EQ(kept[0], 7u);
  EXPECT_THROW(array(memory, 8 * kMiB), BudgetError);
  EXPECT_LE(host_budget().used(), host_budget().ceiling());
}

TEST_F(Recycled, MayBeOutlivedByItsArrays) {
  HostArray<std::uint64_t> last;
  {
    RecycledMemory memory(device_);
    last = array(memory, kMiB);
    array(memory, kMiB);
  }
  EXPECT_EQ(last[0], 7u);
  EXPECT_LE(used(), 2 * kMiB);
  last = {};
  EXPECT_EQ(used(), 0u);
}

}  // namespace
}  // namespace sluice::test
