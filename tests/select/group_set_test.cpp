#include "engine/select/group_set.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>
#include <vector>

#include "engine/exec/group.hpp"

namespace sluice {
namespace {

template <class Key>
class GroupSetOf : public testing::Test {};

using Keys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(GroupSetOf, Keys);

TYPED_TEST(GroupSetOf, HoldsWhatWasInserted) {
  std::mt19937_64 random(1);
  for (const std::uint64_t size : {0u, 1u, 7u, 8u, 1000u}) {
    std::vector<TypeParam> slots(set_capacity(size));
    const GroupSet<TypeParam> set{slots.data(), slots.size()};
    set.clear(SingleLane{});
    std::set<TypeParam> expected;
    while (expected.size() < size) {
      const auto key = static_cast<TypeParam>(size < 100 ? random() % 64 : random());
      if (key == GroupSet<TypeParam>::kEmpty) continue;
      EXPECT_EQ(set.has(key), expected.contains(key));
      if (expected.insert(key).second) set.insert(key);
    }
    for (const TypeParam key : expected) EXPECT_TRUE(set.has(key));
    for (int i = 0; i < 1000; ++i) {
      const auto key = static_cast<TypeParam>(random() >> 1);
      EXPECT_EQ(set.has(key), expected.contains(key));
    }
    set.clear(SingleLane{});
    for (const TypeParam key : expected) EXPECT_FALSE(set.has(key));
  }
}

TYPED_TEST(GroupSetOf, KeysThatShareASlotDoNotHideEachOther) {
  std::vector<TypeParam> slots(16);
  const GroupSet<TypeParam> set{slots.data(), slots.size()};
  set.clear(SingleLane{});
  for (TypeParam key = 0; key < 15; ++key) set.insert(key);  // one slot is free: probing wraps around
  for (TypeParam key = 0; key < 15; ++key) EXPECT_TRUE(set.has(key));
  for (TypeParam key = 15; key < 40; ++key) EXPECT_FALSE(set.has(key));
}

TEST(SetCapacity, IsAPowerOfTwoMoreThanHalfFree) {
  for (std::uint64_t keys = 0; keys < 3000; ++keys) {
    const std::uint64_t capacity = set_capacity(keys);
    EXPECT_TRUE(std::has_single_bit(capacity));
    EXPECT_GT(capacity, 2 * keys);
    EXPECT_TRUE(capacity == 16 || capacity / 2 < 2 * keys + 2);
  }
}

TEST(SingleLane, IsAGroupOfOne) {
  const SingleLane lane;
  EXPECT_EQ(lane.rank(), 0u);
  EXPECT_EQ(lane.ballot(true), 1u);
  EXPECT_EQ(lane.ballot(false), 0u);
  EXPECT_EQ(lane.sum(7), 7);
  EXPECT_EQ(lane.maximum(7), 7);
  EXPECT_EQ(lane.inclusive_scan(7), 7);
  EXPECT_EQ(lane.broadcast(7, 0), 7);
  EXPECT_FALSE(lane.equals_lower(7));
  EXPECT_EQ(lane.first(1), 0u);
}

}  // namespace
}  // namespace sluice
