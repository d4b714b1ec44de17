// Integer decisions compared with plain references.
#include "engine/random/uniform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace sluice {
namespace {

using Wide = unsigned __int128;

/// Product of little-endian numbers with 32-bit digits, by long multiplication.
template <std::size_t A, std::size_t B>
std::array<std::uint32_t, A + B> multiply(const std::array<std::uint32_t, A>& a,
                                          const std::array<std::uint32_t, B>& b) {
  std::array<std::uint32_t, A + B> product{};
  for (std::size_t i = 0; i < A; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < B; ++j) {
      const std::uint64_t digit = std::uint64_t{a[i]} * b[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint32_t>(digit);
      carry = digit >> 32;
    }
    product[i + B] = static_cast<std::uint32_t>(carry);
  }
  return product;
}

std::array<std::uint32_t, 4> digits(Wide value) {
  return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32),
          static_cast<std::uint32_t>(value >> 64), static_cast<std::uint32_t>(value >> 96)};
}

/// Numbers of all lengths, and the extremes.
std::vector<std::uint64_t> words() {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> all{0,
                                 1,
                                 2,
                                 3,
                                 0xffffffffu,
                                 0x100000000u,
                                 ~std::uint64_t{0},
                                 ~std::uint64_t{0} - 1,
                                 std::uint64_t{1} << 63,
                                 (std::uint64_t{1} << 63) - 1};
  for (int i = 0; i < 40; ++i) all.push_back(random() >> i % 64);
  return all;
}

TEST(UniformIndex, IsTheHighHalfOfTheProduct) {
  for (const std::uint64_t random : words()) {
    for (const std::uint64_t size : words()) {
      if (size == 0) continue;
      const Wide product = static_cast<Wide>(random) * size;

      EXPECT_EQ(uniform_index(random, size), static_cast<std::uint64_t>(product >> 64));
      EXPECT_LT(uniform_index(random, size), size);
    }
  }
}

TEST(UniformIndex, CutsTheRandomNumbersIntoEqualParts) {
  for (const std::uint64_t size : {2u, 3u, 7u, 10u, 1000u}) {
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto first = static_cast<std::uint64_t>(((static_cast<Wide>(i) << 64) + size - 1) / size);

      EXPECT_EQ(uniform_index(first, size), i);
      if (i > 0) {
        EXPECT_EQ(uniform_index(first - 1, size), i - 1);
      }
    }
    EXPECT_EQ(uniform_index(~std::uint64_t{0}, size), size - 1);
  }
}

TEST(WideUniformIndex, IsTheHighHalfOfTheProduct) {
  const auto all = words();
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t high = all[random() % all.size()], low = all[random() % all.size()];
    const Wide size = static_cast<Wide>(all[random() % all.size()]) << 64 | all[random() % all.size()];

    const auto product = multiply(digits(static_cast<Wide>(high) << 64 | low), digits(size));
    const Wide expected = static_cast<Wide>(product[7]) << 96 | static_cast<Wide>(product[6]) << 64 |
                          static_cast<Wide>(product[5]) << 32 | product[4];

    ASSERT_TRUE(uniform_index(high, low, size) == expected);
    ASSERT_TRUE(size == 0 || uniform_index(high, low, size) < size);
  }
}

TEST(ProbabilityThreshold, IsExact) {
  EXPECT_EQ(Probability::of(0.5).threshold, std::uint64_t{1} << 63);
  EXPECT_EQ(Probability::of(0.25).threshold, std::uint64_t{1} << 62);
  EXPECT_EQ(Probability::of(0x1p-64).threshold, 1u);
  EXPECT_EQ(Probability::of(0x1p-65).threshold, 0u);
  EXPECT_EQ(Probability::of(0.15).threshold,
            static_cast<std::uint64_t>(std::ldexp(static_cast<long double>(0.15), 64)));
  EXPECT_EQ(Probability::of(std::nextafter(1.0, 0.0)).threshold, ~std::uint64_t{0} - 2047);
}

TEST(ProbabilityThreshold, NeverHappensAtZeroAndAlwaysAtOne) {
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_FALSE(Probability::of(0).happens(random));
    EXPECT_FALSE(Probability::of(-0.0).happens(random));
    EXPECT_TRUE(Probability::of(1).happens(random));
    EXPECT_FALSE(Probability{}.happens(random));
  }
  EXPECT_TRUE(Probability::of(0x1p-64).happens(0));
  EXPECT_FALSE(Probability::of(0x1p-64).happens(1));
}

}  // namespace
}  // namespace sluice
