#include "engine/exec/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/exec/group_sort.hpp"
#include "exec/thread_group.hpp"

namespace sluice::test {
namespace {

/// Calls lane(group) with a group of one, and with a group of two threads.
template <class Lane>
void on_groups(const Lane& lane) {
  lane(SingleLane{});
  ThreadGroup::Workspace workspace;
  std::jthread other([&] { lane(ThreadGroup(workspace, 1)); });
  lane(ThreadGroup(workspace, 0));
}

/// Some values are 0, among them the first and the one before the last.
constexpr std::uint64_t kValues[] = {0, 3, 0, 0, 2, 0, 1};
constexpr std::uint32_t kCount = 7;
std::uint64_t value_at(std::uint32_t i) {
  return kValues[i];
}

TEST(Group, FindsWhereARunningSumPassesALimit) {
  constexpr std::uint32_t kPassedAt[] = {1, 1, 1, 4, 4, 6};
  constexpr std::uint64_t kSumBefore[] = {0, 0, 0, 3, 3, 5};
  on_groups([&](const auto& group) {
    for (std::uint64_t limit = 0; limit < std::size(kPassedAt); ++limit) {
      const auto passed = first_sum_above(group, kCount, limit, value_at);
      EXPECT_EQ(passed.index(), kPassedAt[limit]) << limit;
      EXPECT_EQ(group.broadcast(passed.sum - passed.value, passed.lane), kSumBefore[limit]) << limit;
    }
  });
}

TEST(Group, KeepsInOrder) {
  on_groups([](const auto& group) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> put;  // put by this lane
    const std::uint32_t kept = compact_in_order(
        group, kCount, [](std::uint32_t i) { return kValues[i] > 0; },
        [&](std::uint32_t k, std::uint32_t i) { put.emplace_back(k, i); });
    EXPECT_EQ(kept, 3u);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
    for (const auto& [k, i] : {std::pair{0u, 1u}, {1u, 4u}, {2u, 6u}})
      if (i % group.kSize == group.rank()) expected.emplace_back(k, i);
    EXPECT_EQ(put, expected);
    EXPECT_EQ(compact_in_order(group, 0, value_at, [](std::uint32_t, std::uint32_t) { FAIL(); }), 0u);
  });
}

TEST(Group, SortsAscending) {
  std::mt19937 random(2);
  for (const std::size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 100u, 1000u}) {
    std::vector<std::uint64_t> unsorted(size), data;
    for (auto& value : unsorted) value = random() % 50;
    auto expected = unsorted;
    std::sort(expected.begin(), expected.end());
    on_groups([&](const auto& group) {
      if (group.rank() == 0) data = unsorted;
      group.sync();

      group_sort(group, data.data(), data.size());

      if (group.rank() == 0) {
        EXPECT_EQ(data, expected);
      }
    });
  }
}

}  // namespace
}  // namespace sluice::test
