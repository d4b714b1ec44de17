// The pieces in which a rank sweeps its rows.
#include "engine/pagerank/static/sweep_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/core/error.hpp"

namespace sluice::pagerank {
namespace {

/// Cuts rows with the given work.
std::vector<std::uint64_t> cut(const std::vector<std::uint64_t>& work, const pagerank::SweepPieces& pieces,
                               std::uint64_t beside = 0) {
  std::vector<std::uint64_t> before(work.size() + 1, 0);
  std::partial_sum(work.begin(), work.end(), before.begin() + 1);
  return cut_rows(work.size(), pieces, beside, [&](std::uint64_t row) { return before.at(row); });
}

TEST(SweepPieces, AreOneWithoutOtherRanks) {
  const pagerank::SweepPieces pieces = sweep_pieces(5, 1000, 64000, 1);

  EXPECT_EQ(pieces.count, 1u);
  EXPECT_EQ(cut({7, 5, 3}, pieces), (std::vector<std::uint64_t>{0, 3}));
}

TEST(SweepPieces, AreSmallerTheFasterContributionsCross) {
  EXPECT_EQ(sweep_pieces(0, 1000, 64000, 2).count, kDefaultPieces);
  EXPECT_EQ(sweep_pieces(4, 1000, 64000, 2).count, 4u);
  // The ratio is the edges of a vertex, divided by those swept while its contribution is sent: 64 / 11.
  EXPECT_EQ(sweep_pieces(0, 1000, 64000, 2).ratio, 5u);
  EXPECT_EQ(sweep_pieces(0, 1000, 128000, 3).ratio, 5u);
  EXPECT_EQ(sweep_pieces(0, 1000, 64000, 8).ratio, 2u);
  EXPECT_EQ(sweep_pieces(0, 1000, 0, 8).ratio, 2u);
  EXPECT_EQ(sweep_pieces(0, 1, 64000, 2).ratio, 16u);
  EXPECT_EQ(sweep_pieces(0, 0, 0, 2).ratio, 2u);
  EXPECT_THROW(sweep_pieces(kMaxPieces + 1, 1000, 64000, 2), UsageError);
}

TEST(SweepPieces, GrowByTheirRatio) {
  const std::vector<std::uint64_t> even(700, 3);

  EXPECT_EQ(cut(even, {3, 2}), (std::vector<std::uint64_t>{0, 100, 300, 700}));
  EXPECT_EQ(cut(even, {2, 6}), (std::vector<std::uint64_t>{0, 100, 700}));
}

TEST(SweepPieces, WeighRows) {
  // 64 in the first four rows, 64 in the other 60: half of the work is in few rows.
  std::vector<std::uint64_t> work(64, 1);
  std::fill_n(work.begin(), 4, 16);
  work.back() = 5;

  EXPECT_EQ(cut(work, {2, 1}), (std::vector<std::uint64_t>{0, 4, 64}));
  EXPECT_EQ(cut(work, {2, 3}), (std::vector<std::uint64_t>{0, 2, 64}));
}

/// Work is 2100 in all. With {2, 6} the first piece is a seventh. With {3, 4} the first two pieces would be
/// five 21sts, but all pieces before the last get at most half of the rows' own work.
TEST(SweepPieces, CountWhatIsDoneBesideTheLast) {
  const std::vector<std::uint64_t> even(700, 1);

  EXPECT_EQ(cut(even, {2, 6}, 1400), (std::vector<std::uint64_t>{0, 300, 700}));
  EXPECT_EQ(cut(even, {3, 4}, 1400), (std::vector<std::uint64_t>{0, 70, 350, 700}));
  EXPECT_EQ(cut(even, {2, 2}, 1'000'000), (std::vector<std::uint64_t>{0, 350, 700}));
}

TEST(SweepPieces, CoverAllRowsOnceInOrder) {
  for (std::uint64_t rows = 0; rows < 40; ++rows) {
    std::vector<std::uint64_t> work(rows);
    for (std::uint64_t i = 0; i < rows; ++i) work[i] = 4 + (i * 37 % 11) * (i % 3);
    for (unsigned count = 1; count <= kMaxPieces; ++count) {
      for (const std::uint64_t ratio : {2u, 3u, 16u}) {
        const auto cuts = cut(work, {count, ratio});

        ASSERT_EQ(cuts.size(), count + 1);
        EXPECT_EQ(cuts.front(), 0u);
        EXPECT_EQ(cuts.back(), rows);
        EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
      }
    }
  }
}

/// Products of work and parts exceed 64 bits.
TEST(SweepPieces, CutLargeGraphs) {
  const std::uint64_t rows = std::uint64_t{1} << 40;

  const auto cuts = cut_rows(rows, {kMaxPieces, 16}, 0, [](std::uint64_t row) { return row << 20; });

  for (unsigned p = 1; p + 1 < kMaxPieces; ++p) {
    const double ratio =
        static_cast<double>(cuts[p + 1] - cuts[p]) / static_cast<double>(cuts[p] - cuts[p - 1]);
    EXPECT_NEAR(ratio, 16, 0.01);
  }
  EXPECT_EQ(cuts.back(), rows);
}

}  // namespace
}  // namespace sluice::pagerank
