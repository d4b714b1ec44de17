// Alias slots: the mass that each entry receives, summed exactly over the slots, is its bias.
#include "engine/select/alias.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace sluice {
namespace {

using Wide = unsigned __int128;

std::vector<AliasSlot> build(const std::vector<std::uint64_t>& biases) {
  const auto degree = static_cast<std::uint32_t>(biases.size());
  std::vector<AliasSlot> slots(degree);
  std::vector<int> emitted(degree);
  const std::uint64_t total = std::accumulate(biases.begin(), biases.end(), std::uint64_t{0});

  build_alias(
      degree, total, [&](std::uint32_t i) { return biases[i]; },
      [&](std::uint32_t i, AliasSlot slot) { slots[i] = slot, ++emitted[i]; });

  for (std::uint32_t i = 0; i < degree; ++i) EXPECT_EQ(emitted[i], 1) << "slot " << i;
  return slots;
}

/// The slot's own share of `total`, recovered from its threshold floor(share * 2^64 / total).
std::uint64_t share_of(std::uint64_t threshold, std::uint64_t total) {
  const Wide product = static_cast<Wide>(threshold) * total;  // share * 2^64 is in [product, product + total)
  return static_cast<std::uint64_t>((product + total - 1) >> 64);
}

/// Every slot is worth `total`; every entry must receive bias * degree.
void expect_exact(const std::vector<std::uint64_t>& biases, const std::string& name) {
  const auto slots = build(biases);
  const std::uint64_t total = std::accumulate(biases.begin(), biases.end(), std::uint64_t{0});
  std::vector<Wide> mass(biases.size());
  for (std::uint32_t i = 0; i < biases.size(); ++i) {
    const auto& [threshold, other] = slots[i];
    ASSERT_LT(other, biases.size()) << name;
    if (other == i) {
      mass[i] += total;
      continue;
    }
    const std::uint64_t own = share_of(threshold, total);
    ASSERT_EQ(AliasThresholds(total)(own), threshold)
        << name << ": no share of " << total << " has this threshold";
    mass[i] += own;
    mass[other] += total - own;
  }
  for (std::uint32_t i = 0; i < biases.size(); ++i) {
    ASSERT_TRUE(mass[i] == static_cast<Wide>(biases[i]) * biases.size()) << name << ", entry " << i;
    if (biases[i] == 0) {
      ASSERT_EQ(slots[i].threshold, 0u) << name << ": an entry of bias zero may never be drawn";
    }
  }
}

TEST(AliasThresholds, AreThoseOfADivision) {
  std::mt19937_64 random(3);
  const auto some = [&] { return random() >> random() % 64; };
  for (unsigned trial = 0; trial < 200'000; ++trial) {
    const std::uint64_t whole =
        trial % 3 == 0 ? std::uint64_t{1} << trial % 64 : std::max(some(), std::uint64_t{1});
    const AliasThresholds threshold(whole);
    for (const std::uint64_t part : {std::uint64_t{0}, some() % whole, whole / 2, whole - 1}) {
      const auto expected = static_cast<std::uint64_t>((static_cast<Wide>(part) << 64) / whole);
      ASSERT_EQ(threshold(part), expected) << part << " of " << whole;
    }
  }
}

TEST(AliasTable, GivesEveryEntryItsBias) {
  std::mt19937_64 random(7);
  for (std::size_t size = 1; size <= 300; ++size) {
    for (const std::uint64_t range : {2ull, 5ull, 1000ull, 1ull << 32}) {
      std::vector<std::uint64_t> biases(size);
      for (auto& bias : biases) bias = random() % range;  // with zeros
      biases[random() % size] = range - 1;
      expect_exact(biases, std::to_string(size) + " entries below " + std::to_string(range));
    }
  }
}

TEST(AliasTable, SingleHeavyEntry) {
  for (const std::size_t size : {1u, 2u, 3u, 50u, 300u}) {
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      for (const std::uint64_t others : {0u, 1u}) {
        std::vector<std::uint64_t> biases(size, others);
        biases[at] = 0xffffffffu;
        expect_exact(biases, std::to_string(size) + " entries, heavy at " + std::to_string(at));
      }
    }
  }
}

TEST(AliasTable, EqualEntriesFillTheirOwnSlots) {
  for (const std::uint64_t bias : {std::uint64_t{1}, std::uint64_t{0xffffffffu}}) {
    const std::vector<std::uint64_t> biases(77, bias);
    expect_exact(biases, "equal");
    const auto slots = build(biases);
    for (std::uint32_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i].other, i);
  }
}

TEST(AliasTable, SortedAndAlternatingEntries) {
  std::vector<std::uint64_t> rising(200), falling(200), alternating(200), last(200, 1);
  for (std::size_t i = 0; i < 200; ++i) {
    rising[i] = i * i, falling[i] = (199 - i) * 12345, alternating[i] = i % 2 ? 0xfffffffeu : 1;
  }
  last.back() = 0xffffffffu;
  expect_exact(rising, "rising");
  expect_exact(falling, "falling");
  expect_exact(alternating, "alternating");
  expect_exact(last, "last");
}

TEST(AliasTable, LargeBiasesDoNotOverflow) {
  std::mt19937_64 random(8);
  std::vector<std::uint64_t> biases(100);
  for (auto& bias : biases) bias = random() >> 8;  // the sum is near 2^63, and bias * degree exceeds 2^64
  expect_exact(biases, "near 2^56");
}

TEST(AliasTable, NoPositiveBiasNamesNoVertex) {
  for (const auto& slot : build({0, 0, 0})) EXPECT_EQ(slot.other, kNoVertex);
  EXPECT_TRUE(build({}).empty());
}

}  // namespace
}  // namespace sluice
