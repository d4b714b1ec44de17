// The CTPS, its regions, and rows packed for the wide layout.
#include "engine/select/candidates.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "engine/graph/wide.hpp"
#include "engine/select/tables.hpp"

namespace sluice {
namespace {

std::vector<std::uint64_t> sums_of(std::vector<std::uint64_t> biases) {
  std::partial_sum(biases.begin(), biases.end(), biases.begin());
  return biases;
}

TEST(Ctps, FindsEveryPointsRegion) {
  std::mt19937 random(1);
  for (std::uint32_t size = 1; size < 70; ++size) {
    std::vector<std::uint64_t> biases(size);
    for (auto& bias : biases) bias = random() % 4;  // a quarter are zero
    biases[random() % size] = 3;
    const auto sums = sums_of(biases);
    const CtpsCandidates ctps{sums.data(), size};

    std::uint64_t x = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      EXPECT_EQ(ctps.low(i), x);
      EXPECT_EQ(ctps.width(i), biases[i]);
      for (std::uint64_t j = 0; j < biases[i]; ++j) ASSERT_EQ(ctps.find(x++), i);
    }
    EXPECT_EQ(ctps.total(), x);
  }
}

TEST(Ctps, FindsTheBoundariesOfWideRegions) {
  const std::uint64_t big = std::uint64_t{1} << 62;
  const std::vector<std::uint64_t> biases{0, big, 0, 1, big, 0, 0, big - 5, 0};
  const auto sums = sums_of(biases);
  const CtpsCandidates ctps{sums.data(), 9};

  EXPECT_EQ(ctps.find(0), 1u);
  EXPECT_EQ(ctps.find(big - 1), 1u);
  EXPECT_EQ(ctps.find(big), 3u);
  EXPECT_EQ(ctps.find(big + 1), 4u);
  EXPECT_EQ(ctps.find(2 * big), 4u);
  EXPECT_EQ(ctps.find(2 * big + 1), 7u);
  EXPECT_EQ(ctps.find(ctps.total() - 1), 7u);
}

TEST(Ctps, EmptyListHasNoSpace) {
  const CtpsCandidates none{nullptr, 0};
  EXPECT_EQ(none.total(), 0u);
}

TEST(CtpsTable, AgreesWithTheCandidatesAndSkipsListsWithoutBias) {
  const std::vector<std::uint64_t> sums{9, 9, 9, 0, 2, 2, 7, 0, 0};  // a list before, {0,2,0,5}, {0,0}
  const CtpsTable<CsrEdges> table{{}, sums.data()};
  Probe probe;

  EXPECT_FALSE(table.locate({}, 0, {3, 0}, {}, probe));
  EXPECT_FALSE(table.locate({}, 0, {7, 2}, {}, probe));
  ASSERT_TRUE(table.locate({}, 0, {3, 4}, {0, 0, 0, 0}, probe));
  EXPECT_EQ(probe.position, 4u);
  ASSERT_TRUE(table.locate({}, 0, {3, 4}, {~0u, ~0u, 0, 0}, probe));
  EXPECT_EQ(probe.position, 6u);
}

TEST(PackedRow, HoldsTheLargestOffsetAndDegree) {
  for (const EdgeIndex offset : {EdgeIndex{0}, EdgeIndex{1}, EdgeIndex{1} << 39, PackedRow::kMaxOffset}) {
    for (const std::uint32_t degree : {0u, 1u, 1u << 23, PackedRow::kMaxDegree}) {
      const Row row = PackedRow::of({offset, degree}).row();
      EXPECT_EQ(row.offset, offset);
      EXPECT_EQ(row.degree, degree);
    }
  }
  EXPECT_EQ(PackedRow::kMaxOffset, (EdgeIndex{1} << 40) - 1);
  EXPECT_EQ(PackedRow::kMaxDegree, (1u << 24) - 1);
}

TEST(EdgePacking, IsWorthwhileWhereDegreesFit) {
  EXPECT_TRUE(EdgePacking::of(1u << 20, 1u << 25).worthwhile());
  EXPECT_TRUE(EdgePacking::of((1u << 26) - 1, (std::uint64_t{1} << 26) - 1).worthwhile());
  EXPECT_FALSE(EdgePacking::of(1u << 26, (std::uint64_t{1} << 26) - 1).worthwhile());
  EXPECT_FALSE(EdgePacking::of(0xffffffffu, std::uint64_t{1} << 39).worthwhile());
}

TEST(EdgePacking, GivesBackTargetsAndRowsAndLooksUpLargeDegrees) {
  // The list of vertex 0 is too long for the field of its degree, so the packing is tight.
  constexpr std::uint32_t kHub = 5000;
  std::vector<EdgeIndex> offsets{0, kHub, kHub, kHub + 3};
  std::vector<Vertex> targets(kHub + 3, 0);
  GraphView view;
  view.csr = {3, targets.size(), offsets.data(), targets.data(), nullptr};
  for (const EdgePacking packing :
       {EdgePacking::of(3, targets.size()), EdgePacking{28, 24}, EdgePacking{40, 22}}) {
    for (Vertex v = 0; v < 3; ++v) {
      const std::uint64_t bits = packing.pack(v, view.row(v));

      EXPECT_EQ(packing.target(bits), v);
      EXPECT_EQ(packing.row(bits, view).degree, view.row(v).degree);
      EXPECT_EQ(packing.row(bits, view).offset, view.row(v).offset);
    }
  }
}

}  // namespace
}  // namespace sluice
