// Weights as integers (CONTRACT section 5): max(1, rint(w * 2^(31 - e))), in plain floating point with a
// mantissa of 64 bits.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/graph/graph_view.hpp"

namespace sluice {
namespace {

std::uint64_t expected(float weight, int exponent) {
  if (weight == 0) return 0;
  const long double scaled =
      std::ldexp(static_cast<long double>(weight), 31 - exponent);            // exact: 24 bits of mantissa
  return static_cast<std::uint64_t>(std::max(1.0L, std::nearbyint(scaled)));  // ties to even
}

std::vector<float> hard_weights() {
  std::vector<float> all{0.0f, 1.0f, 1.5f, 2.0f, 3.0f, 1e-3f, 1e3f, 1e6f, 0.1f, 0.3f};
  all.push_back(std::numeric_limits<float>::min());
  all.push_back(std::nextafter(std::numeric_limits<float>::min(), 0.0f));
  all.push_back(std::numeric_limits<float>::denorm_min());
  all.push_back(3 * std::numeric_limits<float>::denorm_min());
  all.push_back(std::numeric_limits<float>::max());
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {  // any finite positive bit pattern
    const std::uint32_t bits = random() & 0x7fffffffu;
    if (bits < 0x7f800000u) all.push_back(std::bit_cast<float>(bits));
  }
  for (int i = 0; i < 500; ++i)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x7fffffu));
  return all;
}

TEST(WeightExponent, IsTheFloorOfTheLogarithm) {
  for (const float weight : hard_weights()) {
    EXPECT_EQ(weight_exponent(weight), weight == 0 ? -32768 : std::ilogb(weight)) << weight;
  }
}

TEST(QuantisedWeight, IsTheFormulaForEveryListsExponent) {
  ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  for (const float weight : hard_weights()) {
    if (weight == 0) continue;
    const int own = weight_exponent(weight);
    for (int above = 0; above < 60 && own + above <= 127; ++above) {  // the list's largest may be much larger
      ASSERT_EQ(quantise_weight(weight, own + above), expected(weight, own + above))
          << weight << ' ' << above;
    }
    ASSERT_EQ(quantise_weight(weight, 127), expected(weight, 127)) << weight;
  }
}

TEST(QuantisedWeight, KeepsZeroAndLosesNothingPositive) {
  for (const int exponent : {-149, -126, 0, 31, 127}) EXPECT_EQ(quantise_weight(0.0f, exponent), 0u);
  EXPECT_EQ(quantise_weight(-0.0f, 0), 0u);
  EXPECT_EQ(quantise_weight(std::numeric_limits<float>::denorm_min(), 127), 1u);
  EXPECT_EQ(quantise_weight(1e-20f, 0), 1u);
}

TEST(QuantisedWeight, RoundsTiesToEven) {
  // With exponent 31, the integer is the rounded weight.
  EXPECT_EQ(quantise_weight(0.5f, 31), 1u);  // rint gives 0, but positive weights count at least 1
  EXPECT_EQ(quantise_weight(1.5f, 31), 2u);
  EXPECT_EQ(quantise_weight(2.5f, 31), 2u);
  EXPECT_EQ(quantise_weight(3.5f, 31), 4u);
  EXPECT_EQ(quantise_weight(2.5000002f, 31), 3u);
  EXPECT_EQ(quantise_weight(8388607.5f, 31), 8388608u);
}

TEST(QuantisedWeight, KeepsTheLargestBetweenTwoPowersAndItsRatios) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const float largest = std::ldexp(1.0f + static_cast<float>(random() % 8388608) / 8388608,
                                     static_cast<int>(random() % 200) - 100);
    const std::uint64_t own = quantise_weight(largest, weight_exponent(largest));
    EXPECT_GE(own, std::uint64_t{1} << 31);
    EXPECT_LT(own, std::uint64_t{1} << 32);

    const float small = largest * 1e-6f;  // six orders of magnitude keep more than ten bits
    const auto part = static_cast<double>(quantise_weight(small, weight_exponent(largest)));
    EXPECT_NEAR(part / static_cast<double>(own) * 1e6, 1, 5e-4);
  }
}

}  // namespace
}  // namespace sluice
