#include "partition/even_offsets.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include "partition/plan.hpp"
#include "partition/ranges.hpp"

namespace sluice {
namespace {

TEST(EvenOffsets, AreTheSumsOfListsThatDifferByOneEdge) {
  constexpr std::uint64_t kVertices = 100'003, kEdges = 1'234'567;
  const auto made = even_offsets(kVertices, kEdges);
  const auto* const offsets = static_cast<const EdgeIndex*>(made.get());
  const auto lists = EvenLists::find(offsets + 7);

  ASSERT_TRUE(lists);
  EXPECT_EQ(lists->longest(), 13u);
  EXPECT_EQ(offsets[0], 0u);
  EXPECT_EQ(offsets[kVertices], kEdges);
  for (std::uint64_t v = 0; v < kVertices; ++v) {
    ASSERT_GE(offsets[v + 1] - offsets[v], 12u) << v;
    ASSERT_LE(offsets[v + 1] - offsets[v], 13u) << v;
    if (v + 5 <= kVertices) {
      ASSERT_EQ(OffsetReader(offsets + 5)[v], offsets[v + 5]) << v;
    }
  }
}

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Several threads read more pages than are kept, twice.
TEST(EvenOffsets, ThreadsReadManyInLittleMemory) {
  constexpr std::uint64_t kVertices = 20'000'000, kStride = 2000;
  const auto made = even_offsets(kVertices, 3 * kVertices);
  const auto* const offsets = static_cast<const EdgeIndex*>(made.get());
  const std::uint64_t before = resident_bytes();
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> wrong(3);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t v = t; v < 2 * kVertices; v += kStride)
        wrong[t] += offsets[v % kVertices] != 3 * (v % kVertices);
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, std::vector<std::uint64_t>(3));
  EXPECT_LT(resident_bytes(), before + (100u << 20)) << "of 160 MB of offsets";
}

TEST(EvenOffsets, PlansAreThoseOfOffsetsInMemory) {
  constexpr std::uint64_t kVertices = 5000, kEdges = 42'001;
  const auto made = even_offsets(kVertices, kEdges);
  const auto* const even = static_cast<const EdgeIndex*>(made.get());
  const std::vector<EdgeIndex> dense(even, even + kVertices + 1);
  const auto expect_same = [](const PartitionPlan& a, const PartitionPlan& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::uint64_t p = 0; p < a.size(); ++p) {
      EXPECT_EQ(a.begin(p), b.begin(p));
      EXPECT_EQ(a.bytes(p), b.bytes(p));
    }
  };

  expect_same(PartitionPlan({even, kVertices + 1}, {}, 4096), PartitionPlan(dense, {}, 4096));
  expect_same(PartitionPlan::of_count({even + 100, 3000}, {}, 7),
              PartitionPlan::of_count(std::span(dense).subspan(100, 3000), {}, 7));
  const Ownership ranges = balanced_ranges({even, kVertices + 1}, 9), same = balanced_ranges(dense, 9);
  EXPECT_TRUE(std::ranges::equal(ranges.begins(), same.begins()));
  EXPECT_FALSE(EvenLists::find(dense.data()));
}

TEST(EvenOffsets, OtherFaultsStillEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto made = even_offsets(10, 20);
        *static_cast<volatile int*>(nullptr) = 1;
      },
      "");
}

}  // namespace
}  // namespace sluice
