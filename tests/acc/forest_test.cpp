// Trees that edges join, and vertices that are joined before all others.
#include "engine/acc/forest.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <vector>

#include "engine/acc/programs/wcc.hpp"
#include "engine/acc/rounds/merge.hpp"

namespace sluice::acc {
namespace {

TEST(FirstJoined, AreCountedAndNumbered) {
  for (const std::uint64_t vertices : {0u, 1u, 31u, 32u, 33u, 2047u, 2048u, 2049u, 2080u, 5000u}) {
    std::set<std::uint64_t> numbered, expected;
    for (std::uint64_t i = 0; i < count_early_rows(vertices); ++i) {
      if (early_row(i) >= vertices) continue;
      EXPECT_TRUE(numbered.insert(early_row(i)).second) << "twice";
    }
    for (std::uint64_t v = 0; v < vertices; ++v)
      if (is_joined_early(v)) expected.insert(v);
    EXPECT_EQ(numbered, expected) << vertices;
  }
}

TEST(Forest, JoinsTreesOfAnyDepth) {
  // A chain 5 > 4 > 3 > 0 and a tree 7 > 6 > 1.
  Vertex states[] = {0, 1, 2, 0, 3, 4, 1, 6};
  join(Components{}, states, 5, 7);
  for (Vertex v = 0; v < 8; ++v) compress(states, v);

  EXPECT_EQ(std::vector(std::begin(states), std::end(states)), (std::vector<Vertex>{0, 0, 2, 0, 0, 0, 0, 0}));
}

TEST(Forest, LeavesTreesWhoseRootsAreFar) {
  Vertex states[] = {0, 1, 1, 2, 3, 4, 5, 6};  // a chain down to 1
  const std::vector<Vertex> before(std::begin(states), std::end(states));

  EXPECT_FALSE(join(Components{}, states, 7, 0, 1));
  EXPECT_EQ(std::vector(std::begin(states), std::end(states)), before);
  EXPECT_TRUE(join(Components{}, states, 7, 0, 8));
  for (Vertex v = 0; v < 8; ++v) compress(states, v);
  EXPECT_EQ(std::vector(std::begin(states), std::end(states)), std::vector<Vertex>(8));
}

/// Counts like an executor's lane.
struct CountingLane {
  std::uint64_t sums[2] = {};
  void add(unsigned sum, std::uint64_t value) { sums[sum] += value; }
};

/// Two chains, and an edge between their ends.
TEST(JoinRange, LeavesAnEdgeBetweenFarRootsUntilTreesAreCompressed) {
  constexpr Vertex kChain = 2 * kMaxRootSteps + 9, kBoth = 2 * kChain;
  std::vector<Vertex> states;
  for (Vertex v = 0; v < kBoth; ++v) states.push_back(v % kChain == 0 ? v : v - 1);
  const std::vector<Vertex> before = states, targets{kBoth - 1};
  const std::vector<EdgeIndex> offsets{0, 1};
  const MergeRows<Components> rows{Components{}, kChain - 1, offsets.data(), states.data()};
  JoinRange<Components> join{rows, kNoVertex, 0, 1, targets.data(), nullptr};
  unsigned long long deferred = 0;
  const JoinDeferred<Components> again{join, &deferred};
  CountingLane lane;

  again(0, lane);
  EXPECT_EQ(states, before) << "none was left";
  join.deferred = &deferred;
  join(0, lane);
  EXPECT_EQ(states, before);
  EXPECT_EQ(deferred, 1u);
  EXPECT_EQ(lane.sums[0], 1u);
  EXPECT_EQ(lane.sums[1], 1u);
  for (Vertex v = 0; v < kBoth; ++v) compress(states.data(), v);
  again(0, lane);
  for (Vertex v = 0; v < kBoth; ++v) compress(states.data(), v);
  EXPECT_EQ(states, std::vector<Vertex>(kBoth));
  EXPECT_EQ(lane.sums[0], 1u) << "counted twice";
}

}  // namespace
}  // namespace sluice::acc
