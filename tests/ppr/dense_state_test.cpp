// The number of queries that share dense rows in a given amount of memory.
#include "engine/ppr/dense/state.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

TEST(PprDenseFit, IsAsNarrowAsASingleGroupMayBe) {
  for (const std::uint32_t queries : {1u, 7u, 32u}) {
    const ppr::DenseFit fit = ppr::DenseFit::of(1000, queries, kPlenty);
    EXPECT_EQ(fit.shape.width, queries);
    EXPECT_EQ(fit.groups, 1u);
  }
  const ppr::DenseFit two = ppr::DenseFit::of(1000, 33, kPlenty);
  EXPECT_EQ(two.shape.width, ppr::kDenseWidth);
  EXPECT_EQ(two.groups, 2u);
}

TEST(PprDenseFit, HasAsManyGroupsAsKeepAGpuBusy) {
  EXPECT_EQ(ppr::DenseFit::of(1000, 1'000'000, kPlenty).groups, 128u);
  EXPECT_EQ(ppr::DenseFit::of(20'000, 1'000'000, kPlenty).groups, 52u);
  EXPECT_EQ(ppr::DenseFit::of(10'000'000, 1'000'000, kPlenty).groups, 4u);
  EXPECT_EQ(ppr::DenseFit::of(0, 1, kPlenty).groups, 1u);
}

TEST(PprDenseFit, StaysWithinTheMemory) {
  for (std::uint64_t memory = 1; memory < (1u << 30); memory = memory * 5 / 4 + 1) {
    for (const std::uint64_t queries : {1u, 20u, 1000u}) {
      const ppr::DenseFit fit = ppr::DenseFit::of(5000, queries, memory);
      EXPECT_LE(fit.bytes(), memory);
      EXPECT_EQ(fit.groups > 0, (ppr::DenseShape{5000, 1}.bytes() <= memory)) << memory;
    }
  }
}

TEST(PprDenseFit, HasNarrowerRowsWhereTheMemoryIsShort) {
  const std::uint64_t whole = ppr::DenseShape{5000}.bytes();
  const ppr::DenseFit narrower = ppr::DenseFit::of(5000, 1000, whole - 1);
  EXPECT_EQ(narrower.groups, 1u);
  EXPECT_EQ(narrower.shape.width, 16u);
  EXPECT_EQ(ppr::DenseFit::of(5000, 1000, whole).shape.width, 32u);
}

}  // namespace
}  // namespace sluice::test
