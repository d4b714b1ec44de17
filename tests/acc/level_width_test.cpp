// The width of a GPU's levels, chosen by the edges that their rounds have read.
#include "engine/acc/level_width.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace sluice::acc {
namespace {

/// The width of the next level after a level whose rounds read these edges.
std::uint64_t after(LevelWidth& width, std::initializer_list<std::uint64_t> rounds) {
  for (const std::uint64_t edges : rounds) width.count(edges);
  return width.next();
}

TEST(LevelWidth, GrowsOnceFewEdgesAreLeft) {
  LevelWidth width;

  EXPECT_EQ(width.next(), 1u) << "before the first level";
  EXPECT_EQ(after(width, {5'000'000, 30'000}), 1u) << "many";
  EXPECT_EQ(after(width, {1'900'000, 2'000}), 2u);
  EXPECT_EQ(after(width, {1'800'000}), 4u);
  EXPECT_EQ(after(width, {1'850'000}), 4u) << "no fewer than before";
  EXPECT_EQ(after(width, {900'000, 500'000, 300'000}), 4u) << "looked at more than twice";
  EXPECT_EQ(after(width, {10'000, 10}), 8u);
}

TEST(LevelWidth, StaysWhereEdgesMultiply) {
  LevelWidth width;

  EXPECT_EQ(width.next(), 1u);
  EXPECT_EQ(after(width, {1}), 1u);
  EXPECT_EQ(after(width, {20'000, 260'000}), 1u);
  EXPECT_EQ(after(width, {3'400'000, 90'000'000}), 1u);
}

TEST(LevelWidth, GrowsAmongManyThinRounds) {
  LevelWidth width;
  const auto rounds = [&](std::uint32_t count, std::uint64_t edges) {
    for (std::uint32_t round = 0; round < count; ++round) width.count(edges);
    return width.next();
  };

  EXPECT_EQ(rounds(20, 4000), 1u) << "there was no level before it";
  EXPECT_EQ(rounds(20, 4400), 2u);
  EXPECT_EQ(rounds(24, 4000), 4u) << "more edges than before, but not twice as many";
  EXPECT_EQ(rounds(24, LevelWidth::kSmallRound), 4u) << "no longer thin";
  EXPECT_EQ(rounds(LevelWidth::kManyRounds - 1, 5000), 4u) << "few rounds";
}

TEST(LevelWidth, ShrinksAmongManyEdgesAndHasLimits) {
  LevelWidth width;
  width.next();
  std::uint64_t last = 1;
  for (std::uint64_t edges = 1'000'000; edges > 999'950; --edges) last = after(width, {edges});
  EXPECT_EQ(last, LevelWidth::kMaxWidth);

  EXPECT_EQ(after(width, {LevelWidth::kManyEdges}), LevelWidth::kMaxWidth);
  EXPECT_EQ(after(width, {LevelWidth::kManyEdges + 1}), LevelWidth::kMaxWidth / 2);
  for (unsigned level = 0; level < 30; ++level) last = after(width, {2 * LevelWidth::kManyEdges});
  EXPECT_EQ(last, 1u);
}

}  // namespace
}  // namespace sluice::acc
