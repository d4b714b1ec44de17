// Known-answer vectors of Random123 1.14 (kat_vectors, philox4x32 10).
#include "engine/random/philox.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

struct Vector {
  std::array<std::uint32_t, 4> counter;
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 4> expected;
};

void PrintTo(const Vector& vector, std::ostream* out) {
  *out << "from " << vector.counter[0];
}

class PhiloxKnownAnswer : public testing::TestWithParam<Vector> {};

TEST_P(PhiloxKnownAnswer, MatchesRandom123) {
  const auto& [c, k, expected] = GetParam();

  const auto block = sluice::philox({c[0], c[1], c[2], c[3]}, k[0] | static_cast<std::uint64_t>(k[1]) << 32);

  EXPECT_EQ(block.x, expected[0]);
  EXPECT_EQ(block.y, expected[1]);
  EXPECT_EQ(block.z, expected[2]);
  EXPECT_EQ(block.w, expected[3]);
}

INSTANTIATE_TEST_SUITE_P(
    Random123, PhiloxKnownAnswer,
    testing::Values(Vector{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                    Vector{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                           {0xffffffff, 0xffffffff},
                           {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                    Vector{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                           {0xa4093822, 0x299f31d0},
                           {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));

}  // namespace
