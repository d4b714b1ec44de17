// The order of a sweep, without slots: partitions that are loaded, evicted, and worked on.
#include "engine/memory/schedule/sweep_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

using Waiting = std::vector<std::uint64_t>;
using Loads = std::vector<PartitionLoad>;
using Partitions = std::vector<std::uint32_t>;

/// A sweep whose loads complete at once and in order. Returns the partitions in order of work.
Partitions order_of(Scheduler& slots, const Waiting& waiting) {
  SweepPass pass(slots, waiting);
  Partitions order;
  for (;;) {
    Partitions come;
    for (const PartitionLoad& load : pass.fill().loads) come.push_back(load.partition);
    pass.arrive(come);
    if (pass.none_resident()) return order;
    for (const std::uint32_t partition : pass.next()) order.push_back(partition);
  }
}

TEST(SweepPass, BringsTheBusiestFirst) {
  Scheduler slots(6, 2, SchedulePolicy::workload);
  SweepPass pass(slots, Waiting{3, 9, 0, 7, 1, 9});

  const PartitionMoves moves = pass.fill();

  EXPECT_EQ(moves.loads, (Loads{{0, 1}, {1, 5}}));
  EXPECT_TRUE(moves.evicted.empty());
  EXPECT_TRUE(pass.none_resident());
  EXPECT_FALSE(pass.none_loading());
}

TEST(SweepPass, TakesEqualsInOrderOfIds) {
  Scheduler slots(5, 2, SchedulePolicy::workload);

  EXPECT_EQ(order_of(slots, Waiting(5, 1)), (Partitions{0, 1, 2, 3, 4}));
}

TEST(SweepPass, BeginsWithWhatIsHere) {
  Scheduler slots(6, 4, SchedulePolicy::workload);
  order_of(slots, {0, 0, 1, 0, 1, 0});

  const Partitions order = order_of(slots, {9, 9, 1, 9, 1, 9});

  EXPECT_EQ(Partitions(order.begin(), order.begin() + 2), (Partitions{2, 4}));
  EXPECT_EQ(order.size(), 6u);
}

TEST(SweepPass, KeepsWhatIsPinnedFromSweepToSweep) {
  Scheduler slots(8, 4, SchedulePolicy::workload);
  order_of(slots, Waiting(8, 1));
  const Partitions pinned{slots.partition_in(0), slots.partition_in(1)};

  order_of(slots, Waiting(8, 1));

  EXPECT_EQ((Partitions{slots.partition_in(0), slots.partition_in(1)}), pinned);
}

TEST(SweepPass, LetsNothingLeaveBeforeItWasWorkedOn) {
  Scheduler slots(12, 4, SchedulePolicy::workload);
  SweepPass pass(slots, Waiting(12, 1));
  Partitions done;
  for (;;) {
    const PartitionMoves moves = pass.fill();
    for (const std::uint32_t left : moves.evicted)
      EXPECT_NE(std::find(done.begin(), done.end(), left), done.end()) << "partition " << left;
    Partitions come;
    for (const PartitionLoad& load : moves.loads) come.push_back(load.partition);
    pass.arrive(come);
    if (pass.none_resident()) break;
    for (const std::uint32_t partition : pass.next()) done.push_back(partition);
  }

  EXPECT_EQ(done.size(), 12u) << "each once";
}

TEST(SweepPass, LeavesSlotsOfWhatIsNotWantedForTheLast) {
  Scheduler slots(5, 3, SchedulePolicy::workload);
  order_of(slots, {1, 1, 0, 0, 0});
  SweepPass pass(slots, Waiting{0, 0, 0, 4, 0});

  const PartitionMoves moves = pass.fill();

  EXPECT_EQ(moves.loads, (Loads{{2, 3}})) << "an empty slot first";
  EXPECT_TRUE(moves.evicted.empty());
}

TEST(SweepPass, HandsOutAllThatIsHereWhenNothingComes) {
  Scheduler slots(4, 4, SchedulePolicy::workload);
  order_of(slots, Waiting(4, 1));
  SweepPass pass(slots, Waiting{1, 0, 1, 1});

  EXPECT_TRUE(pass.fill().loads.empty());
  EXPECT_EQ(pass.next(), (Partitions{0, 2, 3}));
  EXPECT_TRUE(pass.none_resident() && pass.none_loading());
}

TEST(SweepPass, EndsAtOnceWithoutWork) {
  Scheduler slots(3, 2, SchedulePolicy::workload);

  EXPECT_TRUE(order_of(slots, Waiting(3, 0)).empty());
}

}  // namespace
}  // namespace sluice
