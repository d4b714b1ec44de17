// The host's loop of walks with fake walks: each item is taken once and left once, wherever it ends.
#include "engine/walks/advance.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace sluice::walks {
namespace {

struct FakeProgram {
  static constexpr bool kScans = true, kEndsOnly = false;
};

/// Item i ends at step i % 7, waits at step 3 if i % 5 is 4, and scans in order to reach step 2.
struct FakeWalks {
  static constexpr bool kComplete = false;
  using WalkProgram = FakeProgram;
  using Walker = walks::Walker;
  struct StepState {
    bool waits = false, ended = false;
    unsigned scans = 0, counted = 0;
  };

  std::uint32_t leg_begin = 0, leg_end = 6;

  static bool waits(const Walker& walker) { return walker.instance % 5 == 4 && walker.step == 3; }
  bool propose(const Walker& walker, StepState&, Proposal&, Round& round) const {
    if (!waits(walker)) return true;
    round = Round::absent;
    return false;
  }
  Round settle(Walker& walker, StepState&, Proposal&) const {
    EXPECT_FALSE(waits(walker)) << "nothing was proposed";
    if (walker.step == walker.instance % 7) return Round::ended;
    return walker.step == 1 ? Round::scan : move(walker);
  }
  void count_scan(const Walker&, StepState& state) const { ++state.counted; }
  StepState* scan_context(StepState& state) const { return &state; }
  Round scan(const SingleLane&, Walker& walker, StepState* state) const {
    ++state->scans;
    return move(walker);
  }
  void end(StepState& state) const { state.ended = true; }

  static Round move(Walker& walker) {
    ++walker.step;
    walker.current = static_cast<Vertex>(walker.instance * 10 + walker.step);
    return Round::moved;
  }
};

constexpr Vertex kUnwritten = 12345;

struct Outcome {
  unsigned taken = 0, left = 0;
  Walker walker;
  FakeWalks::StepState state;
  std::vector<Vertex> path = std::vector<Vertex>(8, kUnwritten);
};

/// Advances walks [first, last) from step walks.from on.
std::map<std::uint64_t, Outcome> advance_all(const FakeWalks& walks, std::uint64_t first, std::uint64_t last,
                                             std::uint64_t* rounds = nullptr) {
  std::map<std::uint64_t, Outcome> items;
  const std::uint64_t made = host::advance(
      walks, first, last,
      [&](auto& lane) {
        Outcome& item = items[lane.item];
        ++item.taken;
        lane.walker = {};
        lane.walker.instance = lane.item, lane.walker.step = walks.leg_begin;
        lane.path = item.path.data();
      },
      [&](const auto& lane) {
        Outcome& item = items[lane.item];
        ++item.left, item.walker = lane.walker, item.state = lane.state;
      });
  if (rounds) *rounds = made;
  return items;
}

TEST(HostAdvance, TakesAndLeavesEveryItemOnceHoweverMany) {
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, host::kInterleavedWalks,
                                    host::kInterleavedWalks + 1, 5 * host::kInterleavedWalks}) {
    const auto items = advance_all({}, 100, 100 + count);

    ASSERT_EQ(items.size(), count);
    for (const auto& [item, outcome] : items) {
      ASSERT_EQ(outcome.taken, 1u) << item;
      ASSERT_EQ(outcome.left, 1u) << item;
      ASSERT_EQ(outcome.walker.instance, item);
    }
  }
}

TEST(HostAdvance, GoesOnUntilTheWalkEndsWaitsOrHasItsSteps) {
  for (const auto& [item, outcome] : advance_all({}, 0, 300)) {
    const bool waits = item % 5 == 4 && item % 7 >= 3;
    EXPECT_EQ(outcome.walker.step, waits ? 3 : item % 7) << item;
    EXPECT_EQ(outcome.state.ended, !waits) << item;
  }
}

TEST(HostAdvance, WritesEveryStepAtItsPlaceInTheLeg) {
  FakeWalks walks;
  walks.leg_begin = 2, walks.leg_end = 5;
  for (const auto& [item, outcome] : advance_all(walks, 0, 300)) {
    if (item % 7 < 2) continue;  // the walk ended before this leg
    for (std::uint32_t step = 3; step < 10; ++step) {
      const bool made = step <= outcome.walker.step;
      ASSERT_EQ(outcome.path[step - 2], made ? item * 10 + step : kUnwritten) << item << ", step " << step;
    }
    ASSERT_LE(outcome.walker.step, 5u);
    ASSERT_EQ(outcome.path[0], kUnwritten) << "the vertex where the leg begins";
  }
}

TEST(HostAdvance, CountsEachScanOnce) {
  for (const auto& [item, outcome] : advance_all({}, 0, 300)) {
    EXPECT_EQ(outcome.state.scans, item % 7 >= 2 ? 1u : 0u) << item;
    EXPECT_EQ(outcome.state.counted, outcome.state.scans) << item;
  }
}

TEST(HostAdvance, ReturnsTheRoundsThatWereMade) {
  std::uint64_t rounds = 0;

  advance_all({}, 7, 14, &rounds);

  // Items 7 to 13 end at steps 0 to 6. Each makes one round a step, and one at its end, which item 13 does
  // not reach. Item 9 ends before it would wait at step 3; no other item waits.
  EXPECT_EQ(rounds, 0u + 1 + 2 + 3 + 4 + 5 + 6 + 6);
}

}  // namespace
}  // namespace sluice::walks
