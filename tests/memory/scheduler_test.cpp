#include "engine/memory/schedule/scheduler.hpp"

#include <gtest/gtest.h>

#include "engine/memory/paged_plan.hpp"
#include "engine/memory/schedule/transport.hpp"

namespace sluice {
namespace {

using Waiting = std::vector<std::uint64_t>;
using Loads = std::vector<PartitionLoad>;
using Partitions = std::vector<std::uint32_t>;

TEST(Scheduler, BringsThePartitionsWhereMostWorkWaits) {
  Scheduler scheduler(5, 2, SchedulePolicy::workload);

  EXPECT_EQ(scheduler.choose(Waiting{3, 9, 0, 7, 9}), (Loads{{0, 1}, {1, 4}}));
  EXPECT_FALSE(scheduler.resident(1));
  scheduler.arrive(Partitions{1, 4});
  EXPECT_EQ(scheduler.residents(), (std::vector<std::uint32_t>{1, 4}));
  EXPECT_TRUE(scheduler.choose(Waiting{3, 0, 0, 7, 0}).empty()) << "no slot is empty";
}

TEST(Scheduler, FifoBringsWhatHasWaitedLongest) {
  Scheduler scheduler(4, 1, SchedulePolicy::fifo);

  EXPECT_EQ(scheduler.choose(Waiting{0, 0, 1, 5}), (Loads{{0, 2}}));
  scheduler.arrive(Partitions{2});
  scheduler.choose(Waiting{100, 0, 0, 5});  // partition 3 has waited since the round before
  scheduler.retire(Waiting{100, 0, 0, 5}, 1);
  EXPECT_EQ(scheduler.choose(Waiting{100, 0, 0, 5}), (Loads{{0, 3}}));
}

TEST(Scheduler, RetiresDrainedPartitionsTheLongestHereFirst) {
  Scheduler scheduler(6, 3, SchedulePolicy::workload);
  scheduler.choose(Waiting{1, 1, 0, 0, 0, 0});
  scheduler.arrive(Partitions{0, 1});
  scheduler.choose(Waiting{0, 0, 1, 0, 0, 0});
  scheduler.arrive(Partitions{2});
  EXPECT_EQ(scheduler.empty(), 0u);

  EXPECT_EQ(scheduler.retire(Waiting{0, 4, 0, 0, 0, 0}, 1), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(scheduler.empty(), 1u);
  EXPECT_TRUE(scheduler.resident(1)) << "work waits there";
  EXPECT_TRUE(scheduler.resident(2));
  EXPECT_TRUE(scheduler.retire(Waiting{0, 4, 0, 0, 0, 0}, 1).empty()) << "one slot is empty already";
  EXPECT_TRUE(scheduler.absent(0));
}

TEST(Scheduler, WhatComesIsNeitherBroughtAgainNorRetired) {
  Scheduler scheduler(3, 3, SchedulePolicy::workload);
  scheduler.choose(Waiting{5, 0, 0});

  EXPECT_TRUE(scheduler.choose(Waiting{5, 0, 0}).empty());
  EXPECT_TRUE(scheduler.retire(Waiting{0, 0, 0}, 3).empty());
  EXPECT_TRUE(scheduler.residents().empty());
  EXPECT_EQ(scheduler.loading(), 1u);
}

TEST(Scheduler, LoadsComeOneAfterAnother) {
  Scheduler scheduler(3, 3, SchedulePolicy::workload);
  scheduler.choose(Waiting{5, 6, 7});
  scheduler.arrive(Partitions{1});

  EXPECT_EQ(scheduler.residents(), Partitions{1});
  EXPECT_EQ(scheduler.loading(), 2u);
  EXPECT_EQ(scheduler.retire(Waiting{5, 0, 7}, 1), Partitions{1});
  EXPECT_TRUE(scheduler.choose(Waiting{5, 0, 7}).empty()) << "they come already";
}

TEST(Scheduler, LargePartitionsComeIntoLargeSlotsAlone) {
  Scheduler scheduler(4, 2, SchedulePolicy::workload, {{false, true, true, false}, 1});

  EXPECT_EQ(scheduler.choose(Waiting{1, 9, 8, 7}), (Loads{{0, 1}, {1, 3}}));
  scheduler.arrive(Partitions{1, 3});
  EXPECT_EQ(scheduler.retire(Waiting{1, 5, 8, 0}, 1), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(scheduler.choose(Waiting{1, 5, 8, 0}), (Loads{{1, 0}})) << "the large slot is not empty";
}

TEST(Scheduler, WhatIsIdleLeavesForALargePartition) {
  Scheduler scheduler(4, 3, SchedulePolicy::workload, {{false, false, true, false}, 1});
  EXPECT_EQ(scheduler.choose(Waiting{3, 4, 0, 2}), (Loads{{1, 1}, {2, 0}, {0, 3}})) << "usual slots first";
  scheduler.arrive(Partitions{0, 1, 3});

  EXPECT_EQ(scheduler.retire(Waiting{0, 4, 6, 0}, 1), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(scheduler.choose(Waiting{0, 4, 6, 0}), (Loads{{0, 2}}));
  EXPECT_EQ(scheduler.clear(), (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_TRUE(scheduler.absent(1));
}

TEST(Scheduler, ReplacesWhateverIsInASlot) {
  Scheduler scheduler(4, 2, SchedulePolicy::workload);
  scheduler.choose(Waiting{0, 1, 0, 0});
  scheduler.arrive(Partitions{1});

  EXPECT_EQ(scheduler.replace({1, 2}), Scheduler::kEmpty);
  EXPECT_EQ(scheduler.replace({0, 3}), 1u);
  EXPECT_TRUE(scheduler.absent(1));
  EXPECT_EQ(scheduler.partition_in(0), 3u);
  EXPECT_EQ(scheduler.slot_of(2), 1u);
  EXPECT_EQ(scheduler.loading(), 2u);
}

/// Ten partitions, each a list of a hundred edges.
PartitionPlan ten_partitions() {
  static const std::vector<EdgeIndex> offsets{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000};
  return PartitionPlan(offsets, {0, 4}, 400);
}

TEST(TransportChoice, ReadsInPlaceWhereLittleWaits) {
  const PartitionPlan plan = ten_partitions();
  // A copy of 400 bytes takes a microsecond, as long as ten reads.
  const TransportChoice choice(plan, {400e6, 10e6}, 1, 1000);
  Waiting waiting(10, 0);
  waiting[2] = 9, waiting[3] = 10, waiting[4] = 1000;

  const auto mapped = choice.mapped(waiting);

  EXPECT_EQ(mapped, (std::vector<std::uint32_t>{0, 1, 2, 5, 6, 7, 8, 9}));
}

TEST(TransportChoice, CountsReadsAVisitAndWorkThatComesByAgain) {
  const PartitionPlan plan = ten_partitions();
  const Waiting waiting(10, 6);
  // The device holds nine tenths of the lists, or almost none.
  const TransportChoice near(plan, {400e6, 10e6}, 1, 3600), far(plan, {400e6, 10e6}, 1, 0);

  EXPECT_EQ(near.mapped(waiting).size(), 10u);
  EXPECT_EQ(TransportChoice(plan, {400e6, 10e6}, 2, 3600).mapped(waiting).size(), 0u);
  EXPECT_EQ(near.mapped(waiting, 10).size(), 0u) << "what has come stays for long";
  EXPECT_EQ(far.mapped(waiting, 10).size(), 0u) << "six more come by each";
  EXPECT_EQ(far.mapped(Waiting(10, 4), 10).size(), 10u);
  EXPECT_EQ(near.mapped(Waiting(10, 1), 1).size(), 10u) << "a few steps come by no more than once";
}

/// Few steps are read in place, while many bring coded lists. Beyond a GPU's reach, reads in place
/// pay for about a tenth as many.
TEST(ReadsInPlace, WhereStepsAreFew) {
  PagedPlan coded{ten_partitions()};
  coded.slot_bytes = 256u << 20;
  coded.brought_bytes = 55e9;  // takes one second
  constexpr std::uint64_t kNear = 512u << 20, kFar = std::uint64_t{4} << 30;

  EXPECT_TRUE(reads_in_place(coded, {}, kNear, 9'000'000, 100));
  EXPECT_FALSE(reads_in_place(coded, {}, kNear, 11'000'000, 100));
  EXPECT_TRUE(reads_in_place(coded, {}, kFar, 400'000, 100));
  EXPECT_FALSE(reads_in_place(coded, {}, kFar, 500'000, 100));
  EXPECT_TRUE(reads_in_place(coded, {.transport = Transport::mapped}, kFar, 500'000, 100));
  EXPECT_FALSE(reads_in_place(coded, {.transport = Transport::copied}, kNear, 1, 1));
}

}  // namespace
}  // namespace sluice
