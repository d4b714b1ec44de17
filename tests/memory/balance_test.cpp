#include "engine/memory/schedule/balance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sluice {
namespace {

using Work = std::vector<std::uint64_t>;
using Shares = std::vector<unsigned>;

TEST(Balance, SharesFollowTheWork) {
  EXPECT_EQ(shares_of(Work{30, 10}, 8, Balance::on), (Shares{6, 2}));
  EXPECT_EQ(shares_of(Work{1, 100, 49}, 150, Balance::on), (Shares{1, 100, 49}));
}

TEST(Balance, EverybodyGetsOneAtLeast) {
  EXPECT_EQ(shares_of(Work{1000000, 1, 1}, 6, Balance::on), (Shares{4, 1, 1}));
  EXPECT_EQ(shares_of(Work{5, 5, 5, 5}, 2, Balance::on), (Shares{1, 1, 1, 1}));
}

TEST(Balance, WithoutItSharesAreEqual) {
  EXPECT_EQ(shares_of(Work{30, 10}, 8, Balance::off), (Shares{4, 4}));
  EXPECT_EQ(shares_of(Work{1, 2, 3}, 8, Balance::off), (Shares{3, 3, 2}));
}

TEST(Balance, WithoutWorkThereAreNoShares) {
  EXPECT_TRUE(shares_of({}, 8, Balance::on).empty());
}

TEST(KernelTimes, AddUpRoundsOfSeveral) {
  KernelTimes times;

  times.add(std::array{1.0, 3.0});
  times.add(std::array{5.0});
  times.add(std::array{4.0, 4.0});

  EXPECT_EQ(times.rounds, 2u);
  EXPECT_DOUBLE_EQ(times.mean_seconds, 6.0);
  EXPECT_DOUBLE_EQ(times.deviation_seconds, 1.0);
  EXPECT_DOUBLE_EQ(times.imbalance(), 1.0 / 6);
}

}  // namespace
}  // namespace sluice
