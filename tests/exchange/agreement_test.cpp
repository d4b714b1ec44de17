// Agreement of ranks, which are threads here, if one of them lacks memory.
#include "engine/exchange/agreement.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

constexpr int kRanks = 3;

/// Throws on rank `lacking`; -1: on none.
auto lacks_on(int lacking, int rank) {
  return [lacking, rank] {
    if (rank == lacking) throw BudgetError("too little");
  };
}

TEST(Agreement, AllHaveMemoryIsFalseOnAllWhereOneLacksIt) {
  for (const int lacking : {-1, 0, 2}) {
    std::atomic<int> said{0};
    Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      said += all_have_memory(ranks, "a test", lacks_on(lacking, rank));
    });
    EXPECT_EQ(said, lacking < 0 ? kRanks : 0) << lacking;
  }
}

TEST(Agreement, TogetherAllThrowOrNone) {
  for (const int lacking : {-1, 0, 2}) {
    std::atomic<int> thrown{0}, own{0};
    Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      try {
        agree_on_memory(&ranks, lacks_on(lacking, rank));
      } catch (const BudgetError& error) {
        ++thrown;
        own += error.what() == std::string("too little");
      }
    });
    EXPECT_EQ(thrown, lacking < 0 ? 0 : kRanks) << lacking;
    EXPECT_EQ(own, lacking < 0 ? 0 : 1) << lacking;
  }
}

}  // namespace
}  // namespace sluice::test
