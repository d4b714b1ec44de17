// The choice of partitions that a round reads in place or has brought.
#include "engine/memory/schedule/in_place.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace sluice::test {
namespace {

constexpr std::uint64_t kPartitions = 4, kLists = 100, kEdges = 1'000'000;  // of each partition
constexpr std::uint64_t kEdge = sizeof(Vertex) + sizeof(float);

class InPlaceTest : public testing::Test {
 protected:
  static std::vector<EdgeIndex> even_lists() {
    std::vector<EdgeIndex> offsets;
    for (std::uint64_t v = 0; v <= kPartitions * kLists; ++v) offsets.push_back(v * kEdges / kLists);
    return offsets;
  }
  /// The choice of a round that needs `wanted` of partition 1, and nothing of the others.
  std::vector<bool> choose(InPlaceChoice& choice, const ListDemand& wanted, std::uint64_t empty = 0) const {
    return choice.choose(
        std::vector<ListDemand>{{}, wanted, {}, {}}, [&](std::uint32_t p) { return here_.count(p) > 0; },
        empty);
  }
  bool in_place(InPlaceChoice& choice, const ListDemand& wanted, std::uint64_t empty = 0) const {
    return choose(choice, wanted, empty)[1];
  }

  const PartitionPlan plan_ = PartitionPlan::of_count(even_lists(), {0, kEdge}, kPartitions);
  std::set<std::uint32_t> here_;
  InPlaceChoice choice_{plan_, kEdge, false};
};

TEST_F(InPlaceTest, ReadsLittleOfAPartitionAndCopiesMuch) {
  ASSERT_EQ(plan_.size(), kPartitions);

  EXPECT_EQ(choose(choice_, {1, kEdges / kLists}), (std::vector<bool>{false, true, false, false}));
  EXPECT_TRUE(in_place(choice_, {kLists / 2, kEdges / 2}));
  EXPECT_FALSE(in_place(choice_, {kLists * 4 / 5, kEdges * 4 / 5}));
  EXPECT_FALSE(in_place(choice_, {kLists, kEdges}));
}

TEST_F(InPlaceTest, CountsWhatShortListsReadInVain) {
  EXPECT_TRUE(in_place(choice_, {10, kEdges / 10}));
  EXPECT_FALSE(in_place(choice_, {kEdges / 10, kEdges / 10}));
}

TEST_F(InPlaceTest, ReadsLittleInPlaceOfWhatIsHereToo) {
  here_ = {1};

  EXPECT_TRUE(in_place(choice_, {1, kEdges / kLists}));
  EXPECT_FALSE(in_place(choice_, {kLists / 2, kEdges / 2}));
}

TEST_F(InPlaceTest, FillsEmptySlotsWithWhatIsReadAgainAndAgain) {
  const ListDemand some{kLists * 2 / 5, kEdges * 2 / 5};

  EXPECT_TRUE(in_place(choice_, some, 1));
  EXPECT_TRUE(in_place(choice_, some, 1));
  EXPECT_TRUE(in_place(choice_, some, 0));
  EXPECT_FALSE(in_place(choice_, some, 1));
  EXPECT_TRUE(in_place(choice_, some, 1)) << "it has left its slot since";
}

TEST_F(InPlaceTest, FillsNoMoreSlotsThanAreEmpty) {
  const std::vector<ListDemand> all(kPartitions, ListDemand{kLists * 3 / 5, kEdges * 3 / 5});
  const auto nowhere = [](std::uint32_t) { return false; };
  choice_.choose(all, nowhere, 2);

  EXPECT_EQ(choice_.choose(all, nowhere, 2), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(choice_.choose(all, nowhere, 2), (std::vector<bool>{true, true, false, false}));
}

TEST_F(InPlaceTest, ReadsWholeLongListsInPlaceThatAreWantedOnce) {
  const auto once = [&](const ListDemand& wanted) -> bool {
    const auto nowhere = [](std::uint32_t) { return false; };
    return choice_.choose(std::vector<ListDemand>{{}, wanted, {}, {}}, nowhere, 1, true)[1];
  };

  EXPECT_TRUE(once({kLists, kEdges}));
  EXPECT_TRUE(once({kLists, kEdges})) << "an empty slot is not for these";
  EXPECT_FALSE(once({kEdges / 10, kEdges}));
}

TEST_F(InPlaceTest, ReadsAllInPlaceWhereThatIsAskedFor) {
  InPlaceChoice always(plan_, kEdge, true);

  EXPECT_EQ(choose(always, {kLists, kEdges}, 2), (std::vector<bool>{false, true, false, false}));
}

TEST(InPlaceFirst, PutsWhatIsReadInPlaceBeforeAllElse) {
  const std::vector<std::uint64_t> ordered{0, 3, 3, 7, 8, 13};

  const InPlaceFirst some(ordered, {false, true, true, false, true}), none(ordered, std::vector<bool>(5));

  EXPECT_EQ(some.begins, (std::vector<std::uint64_t>{9, 0, 0, 12, 4}));
  EXPECT_EQ(some.count, 9u);
  EXPECT_EQ(none.begins, (std::vector<std::uint64_t>{0, 3, 3, 7, 8}));
  EXPECT_EQ(none.count, 0u);
}

TEST(InPlaceRuns, AreOfNeighbours) {
  EXPECT_EQ(runs_of({true, true, false, true, false, false, true}),
            (std::vector<PartitionRun>{{0, 2}, {3, 4}, {6, 7}}));
  EXPECT_TRUE(runs_of(std::vector<bool>(3)).empty());
}

}  // namespace
}  // namespace sluice::test
