// Parked walks: their state, the key that they wait under, and steps that need absent partitions.
#include "engine/walks/queue/parked.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "statistical/graphs.hpp"
#include "walks/last_entry.hpp"

namespace sluice::walks {
namespace {

TEST(ParkedWalk, GoesOnWhereItWasLaidDown) {
  Walker walker, again;
  walker.current = 7, walker.previous = 5, walker.step = 3;
  again.trial = 9;
  struct {
  } state;

  const auto parked = ParkedWalk<false>::of(11, walker, state);
  parked.restore(again);

  EXPECT_EQ(parked.index, 11u);
  EXPECT_EQ(again.current, 7u);
  EXPECT_EQ(again.previous, 5u);
  EXPECT_EQ(again.step, 3u);
  EXPECT_EQ(again.trial, 0u) << "it waits between steps alone";
  EXPECT_EQ(parked.question().target, kNoVertex);
}

TEST(ParkedWalk, KeepsItsTrialAndQuestionWhereItAsks) {
  Walker walker, again;
  walker.current = 7, walker.previous = 5, walker.step = 3, walker.trial = 2;
  struct {
    ParkedQuestion question{13, 4};
    std::uint32_t key = 6;
  } state;

  const auto parked = ParkedWalk<true>::of(11, walker, state);
  parked.restore(again);

  EXPECT_EQ(again.current, 7u);
  EXPECT_EQ(again.previous, 5u);
  EXPECT_EQ(again.step, 3u);
  EXPECT_EQ(again.trial, 2u);
  EXPECT_EQ(parked.question().target, 13u);
  EXPECT_EQ(parked.question().index, 4u);
}

TEST(ParkedWalk, WaitsForItsOwnPartitionUnlessItAsks) {
  const Ownership owners({0, 10, 20});
  const PageMap map{owners.view()};
  const ParkedWalk<false> plain{0, 12};
  ParkedWalk<true> asking{0, 12};
  asking.partition = 5;

  EXPECT_EQ(plain.awaited_partition(map), 1u);
  EXPECT_EQ(asking.awaited_partition(map), 1u);
  asking.question_target = 3;
  EXPECT_EQ(asking.awaited_partition(map), 5u);
}

TEST(QueueKeys, ArePartitionsThenPairsThenTheNextLeg) {
  const QueueKeys keys(nullptr, 3, false);

  EXPECT_EQ(keys.rank_keys, 0u);
  EXPECT_EQ(keys.partition_keys, 3u);
  EXPECT_EQ(keys.count, 5u);
  EXPECT_EQ(keys.queue_key,
            (std::vector<std::uint32_t>{0, 1, 2, /* ended */ 5, /* pairs */ 3, /* next leg */ 4}));
}

TEST(QueueKeys, AreOneForAllPartitionsThatAreHere) {
  const QueueKeys keys(nullptr, 3, true);

  EXPECT_EQ(keys.partition_keys, 1u);
  EXPECT_EQ(keys.count, 1u);
  EXPECT_EQ(keys.queue_key,
            (std::vector<std::uint32_t>{0, 0, 0, /* ended */ 1, /* pairs */ 0, /* next leg */ 1}));
}

/// Accepts an edge if the walk's previous vertex has an edge to the target, too.
struct Asking {
  static constexpr BiasClass kBias = BiasClass::dynamic;

  std::uint64_t dynamic_bias(const GraphView&, const Walker&, const Edge&, bool answer) const {
    return answer ? 1 : 0;
  }
  Question question(const Walker& walker, const Edge& edge) const { return {walker.previous, edge.target}; }
  std::uint64_t bias_bound() const { return 1; }
};

/// Partitions {0, 1}, {2, 3} and {4, 5} of a graph. The first is present; tests bring the second.
class PartsHere : public testing::Test {
 protected:
  using Program = WalkProgram<Asking, LastEntry, Acceptance::dynamic>;
  using Walks = WalksOn<Program, Partitioned>;

  PartsHere() {
    program_.graph = {{6, 6, graph_.out.offsets.data(), graph_.out.targets.data(), nullptr}};
    walks_.map = {owners_.view(), slot_of_.data(), pages_.data(), PageMap::kNoSlot};
    for (PageView& page : pages_) page.targets = graph_.out.targets.data();
    walks_.partitions = 3, walks_.length = 10, walks_.leg_end = 10;
    walks_.programs = &program_;
  }
  Walker at(Vertex previous, Vertex current) const {
    Walker walker;
    walker.previous = previous, walker.current = current, walker.step = 1;
    walker.row = program_.graph.row(current);
    return walker;
  }
  void bring(std::uint32_t partition) { slot_of_[partition] = 0; }

  Graph graph_ = stat::make_graph(6, {{0, 1}, {1, 4}, {2, 0}, {2, 4}, {4, 5}, {5, 3}}, false);
  Ownership owners_{std::vector<std::uint64_t>{0, 2, 4, 6}};
  std::vector<std::uint32_t> slot_of_{0, PageMap::kNoSlot, PageMap::kNoSlot};
  std::vector<PageView> pages_{1};
  Program program_;
  Walks walks_;
  Walks::StepState state_;
  Proposal proposal_;
  Round round_ = Round::ended;
};

TEST_F(PartsHere, WalkWaitsForThePartitionOfItsList) {
  Walker walker = at(0, 5);

  EXPECT_FALSE(walks_.propose(walker, state_, proposal_, round_));

  EXPECT_EQ(round_, Round::absent);
  EXPECT_EQ(state_.key, 2u);
  EXPECT_EQ(walks_.key_after(walker, state_), 2u);
}

TEST_F(PartsHere, WalkWithoutAListNeedsNoPartition) {
  Walker walker = at(0, 3);

  EXPECT_TRUE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(walks_.settle(walker, state_, proposal_), Round::ended);
}

TEST_F(PartsHere, QuestionWaitsForTheListThatAnswersIt) {
  Walker walker = at(2, 1);
  ASSERT_TRUE(walks_.propose(walker, state_, proposal_, round_));

  ASSERT_EQ(walks_.settle(walker, state_, proposal_), Round::absent);

  EXPECT_EQ(state_.key, 1u) << "of the vertex before";
  EXPECT_EQ(state_.question.target, 4u);
  EXPECT_EQ(state_.question.index, 0u);
  EXPECT_FALSE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(round_, Round::absent) << "still";
  bring(1);
  EXPECT_FALSE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(round_, Round::moved);
  EXPECT_EQ(walker.current, 4u);
  EXPECT_EQ(state_.question.target, kNoVertex) << "answered";
}

TEST_F(PartsHere, ScanWaitsForBothLists) {
  Walker walker = at(2, 1);
  walker.trial = kMaxTrials;

  EXPECT_FALSE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(round_, Round::absent);
  EXPECT_EQ(state_.key, walks_.pair_key());
  bring(1);
  EXPECT_FALSE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(round_, Round::scan);
}

TEST_F(PartsHere, BytesReadInPlaceAreCounted) {
  walks_.map.in_place = 0;
  Walker walker = at(0, 1);

  ASSERT_TRUE(walks_.propose(walker, state_, proposal_, round_));
  EXPECT_EQ(state_.in_place_bytes, 101u) << "the proposal's entry, as its table says of a list of one";
  ASSERT_EQ(walks_.settle(walker, state_, proposal_), Round::rejected);
  EXPECT_EQ(state_.in_place_bytes, 101u + kTargetBytes) << "and the list of one entry that was searched";
}

TEST_F(PartsHere, WalkAtTheEndOfALegWaitsForTheNext) {
  Walker walker = at(0, 1);
  walks_.leg_end = 4;
  walker.step = 4;
  walks_.end(state_);

  EXPECT_EQ(walks_.key_after(walker, state_), walks_.next_leg_key());
  walker.step = 3;
  EXPECT_EQ(walks_.key_after(walker, state_), walks_.ended_key()) << "it has ended before";
  walker.step = walks_.leg_end = walks_.length;
  EXPECT_EQ(walks_.key_after(walker, state_), walks_.ended_key()) << "there is no other leg";
}

TEST_F(PartsHere, WalkIsLaidDownUnlessItHasEnded) {
  constexpr Vertex kBefore = 99;
  std::vector<ParkedWalk<true>> parked(2, ParkedWalk<true>{0, kBefore});
  std::vector<std::uint32_t> keys(2);
  const QueueKeys by_key(nullptr, 3, false);
  const QueuedWalks<Program> queued{
      walks_, {{parked.data(), keys.data()}, nullptr, 1, by_key.queue_key.data(), by_key.count}};

  state_.key = 2;
  EXPECT_EQ(queued.park(0, 17, at(0, 5), state_), 2u);
  walks_.end(state_);
  EXPECT_EQ(queued.park(1, 18, at(0, 5), state_), by_key.count);

  EXPECT_EQ(keys, (std::vector<std::uint32_t>{2, by_key.count}));
  EXPECT_EQ(parked[0].index, 17u);
  EXPECT_EQ(parked[0].current, 5u);
  EXPECT_EQ(parked[1].current, kBefore);
}

}  // namespace
}  // namespace sluice::walks
