// The communicator over MPI. on_ranks.cpp has the actions and expectations of each rank.
#include "mpi/ranks.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class CommunicatorTest : public MpiTest {
 protected:
  void pass_on(int ranks, const std::string& filter) {
    const auto finished =
        Process(on_ranks(ranks, {paths::kOnRanks, "--gtest_filter=OnRanks." + filter})).wait();
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    EXPECT_NE(finished.out.find("[  PASSED  ]"), std::string::npos) << finished.out;
  }
};

TEST_F(CommunicatorTest, DoesWhatItIsFor) {
  pass_on(1, "Exchange:OnRanks.KnowTheirNode");
  pass_on(3, "Collectives:OnRanks.Exchange:OnRanks.KnowTheirNode:OnRanks.SwapAsManyBytesWithEachOther");
}

TEST_F(CommunicatorTest, GivesUpInTime) {
  pass_on(2, "TimeoutEnds");
  pass_on(3, "AFailureEndsTheOthersWaits");
  pass_on(3, "AFailureSparesWhatItsRankHasDone");
}

TEST_F(CommunicatorTest, TellsAWorkingRankFromASilentOne) {
  pass_on(2, "AWorkingRankIsWaitedFor:OnRanks.ASilentRankIsSeen");
}

}  // namespace
}  // namespace sluice::test
