// Samples whose bias depends on the previous vertex: every draw has the distribution that its history
// determines.
#include <gtest/gtest.h>

#include <tuple>

#include "core/printed.hpp"
#include "statistical/dynamic_checks.hpp"
#include "statistical/graphs.hpp"

namespace sluice::stat {
namespace {

/// Small lists of all kinds, most shorter than the fan-out, each reached from many others. The number of seed
/// lists is odd, so that each list has instances of both parities.
Starts pocket_seeds() {
  return repeat_seeds({{0}, {4}, {1, 2}, {3, 5, 0}, {2, 6, 7}}, scaled(20000));
}

using Technique = std::tuple<Select, bool>;

class DynamicDistinct : public testing::TestWithParam<Technique> {};

TEST_P(DynamicDistinct, DrawsEverySetByItsHistory) {
  const auto [select, revisit] = GetParam();
  const DynamicCase one{select, revisit};
  EXPECT_TRUE(fits(check_dynamic<false, false, false, false>(pocket(), pocket_seeds(), 3, one)));
  EXPECT_TRUE(fits(check_dynamic<false, true, false, true>(pocket(), pocket_seeds(), 3, one)))
      << "with a fixed part";
  EXPECT_TRUE(fits(check_dynamic<false, true, true, false>(pocket(), pocket_seeds(), 3, one)))
      << "with a floor";
}

TEST_P(DynamicDistinct, DrawsFromAHub) {
  const auto [select, revisit] = GetParam();
  const Starts starts = repeat_seeds({{0}, {0, 1}, {0}}, scaled(1500));
  EXPECT_TRUE(fits(check_dynamic<false, false, false, false>(star(), starts, 1, {select, revisit, 40})));
  EXPECT_TRUE(fits(check_dynamic<false, false, false, true>(star(), starts, 1, {select, revisit, 120})));
}

INSTANTIATE_TEST_SUITE_P(
    Techniques, DynamicDistinct,
    testing::Combine(testing::Values(Select::automatic, Select::updated, Select::repeated), testing::Bool()));

class DynamicReplaced : public testing::TestWithParam<Technique> {};

TEST_P(DynamicReplaced, DrawsByItsHistory) {
  const auto [select, revisit] = GetParam();
  const DynamicCase one{select, revisit};
  EXPECT_TRUE(fits(check_dynamic<true, true, false, false>(pocket(), pocket_seeds(), 2, one)));
  EXPECT_TRUE(fits(check_dynamic<true, true, false, true>(pocket(), pocket_seeds(), 2, one)))
      << "with a fixed part";
  EXPECT_TRUE(fits(check_dynamic<true, true, true, false>(pocket(), pocket_seeds(), 2, one)))
      << "with a floor";
}

TEST_P(DynamicReplaced, DrawsFromAHub) {
  const auto [select, revisit] = GetParam();
  const Starts starts = repeat_seeds({{0}, {0, 1}, {0}}, scaled(1500));
  EXPECT_TRUE(fits(check_dynamic<true, true, false, true>(star(), starts, 1, {select, revisit, 40})));
}

INSTANTIATE_TEST_SUITE_P(Techniques, DynamicReplaced,
                         testing::Combine(testing::Values(Select::rejection, Select::its), testing::Bool()));

TEST(DynamicSamples, WithoutABoundTheListIsTransformed) {
  EXPECT_TRUE(fits(check_dynamic<true, false, false, false>(pocket(), pocket_seeds(), 2, {})));
  EXPECT_TRUE(fits(check_dynamic<true, false, false, true>(pocket(), pocket_seeds(), 2, {})));
}

/// Nearly all trials fail, so that inverse transform sampling decides the last one.
TEST(DynamicSamples, RejectionEndsInATransform) {
  const Starts few = repeat_seeds({{0}, {4}, {1, 2}}, scaled(4000));
  const DynamicCase rare{Select::rejection, false, 3, 3000};
  EXPECT_TRUE(fits(check_dynamic<true, true, false, false>(pocket(), few, 2, rare)));
  EXPECT_TRUE(fits(check_dynamic<true, true, false, true>(pocket(), few, 2, rare)));
}

}  // namespace
}  // namespace sluice::stat
