#include "partition/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sluice {
namespace {

/// Offsets of lists of these lengths.
std::vector<EdgeIndex> offsets_of(const std::vector<std::uint64_t>& degrees) {
  std::vector<EdgeIndex> offsets(degrees.size() + 1, 0);
  std::partial_sum(degrees.begin(), degrees.end(), offsets.begin() + 1);
  return offsets;
}

/// Expects that ranges are contiguous, that none exceeds the slot unless it is one vertex, and that owners
/// are right.
void expect_sound(const PartitionPlan& plan, std::uint64_t vertices, std::uint64_t slot) {
  std::uint64_t next = 0;
  for (std::uint64_t p = 0; p < plan.size(); ++p) {
    ASSERT_EQ(plan.begin(p), next);
    ASSERT_LT(plan.begin(p), plan.end(p));
    next = plan.end(p);
    if (plan.bytes(p) > slot) {
      ASSERT_EQ(plan.end(p) - plan.begin(p), 1u);
      ASSERT_TRUE(plan.oversized(p));
    }
    for (std::uint64_t v = plan.begin(p); v < plan.end(p); ++v)
      ASSERT_EQ(plan.owner(static_cast<Vertex>(v)), p);
  }
  EXPECT_EQ(next, vertices);
}

TEST(PartitionPlan, CutsByBytes) {
  const auto offsets = offsets_of({2, 2, 2, 2});

  const PartitionPlan plan(offsets, {.vertex = 8, .edge = 4}, 40);  // two vertices: 3 offsets and 4 edges

  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan.end(0), 2u);
  EXPECT_EQ(plan.bytes(0), 40u);
  expect_sound(plan, 4, 40);
}

TEST(PartitionPlan, KeepsAGraphThatFitsInOnePiece) {
  const PartitionPlan plan(offsets_of({1, 0, 3}), {}, 1 << 20);

  EXPECT_EQ(plan.size(), 1u);
  expect_sound(plan, 3, 1 << 20);
}

TEST(PartitionPlan, GivesAListLargerThanTheSlotItsOwnPartition) {
  const PartitionPlan plan(offsets_of({1, 1, 1000, 1, 1}), {}, 64);

  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan.begin(1), 2u);
  EXPECT_TRUE(plan.oversized(1));
  EXPECT_FALSE(plan.oversized(0));
  expect_sound(plan, 5, 64);
}

TEST(PartitionPlan, HasNoPartitionsWithoutVertices) {
  EXPECT_EQ(PartitionPlan(offsets_of({}), {}, 64).size(), 0u);
}

TEST(PartitionPlan, CutsEveryVertexWhenTheSlotIsTiny) {
  const PartitionPlan plan(offsets_of(std::vector<std::uint64_t>(100, 3)), {}, 1);

  EXPECT_EQ(plan.size(), 100u);
  expect_sound(plan, 100, 1);
}

TEST(PartitionPlan, IsSoundOnSkewedGraphs) {
  std::mt19937_64 random(7);
  for (const std::uint64_t slot : {100u, 1000u, 20000u, 1000000u}) {
    std::vector<std::uint64_t> degrees(5000);
    // Degrees fall as 1/rank, first in order, so hubs are neighbours, then shuffled.
    for (std::size_t v = 0; v < degrees.size(); ++v) degrees[v] = 20000 / (v + 1);
    for (int round = 0; round < 2; ++round) {
      const PartitionPlan plan(offsets_of(degrees), {}, slot);

      expect_sound(plan, degrees.size(), slot);
      std::shuffle(degrees.begin(), degrees.end(), random);
    }
  }
}

TEST(PartitionPlan, CutsAsManyAsWereAskedFor) {
  const std::vector<std::uint64_t> even(1000, 16);
  for (const std::uint64_t wanted : {1u, 2u, 7u, 64u, 1000u}) {
    const auto offsets = offsets_of(even);
    const PartitionPlan plan = PartitionPlan::of_count(offsets, {0, 4}, wanted);

    EXPECT_LE(plan.size(), wanted);
    EXPECT_GE(plan.size(), wanted * 9 / 10) << wanted;
    EXPECT_EQ(plan.owner(0), 0u);
    EXPECT_EQ(plan.owner(999), plan.size() - 1);
  }
  // A list that is most of the graph leaves less to divide.
  const std::vector<std::uint64_t> hub{1, 1, 100000, 1, 1};
  EXPECT_LE(PartitionPlan::of_count(offsets_of(hub), {0, 4}, 4).size(), 4u);
}

TEST(PartitionPlan, OutlinesListsThatAreYetToBeMade) {
  const PartitionPlan plan = PartitionPlan::outline(10, 4, 100);

  EXPECT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan.end(3), 10u);
  EXPECT_EQ(plan.largest(), 100u);
  EXPECT_FALSE(plan.oversized(0));
  EXPECT_EQ(PartitionPlan::outline(10, 0, 100).size(), 1u);
}

}  // namespace
}  // namespace sluice
