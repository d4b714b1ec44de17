// The places of changed rows in exchanges between GPUs: every row is sent once.
#include "engine/pagerank/dynamic/changed_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice::pagerank {
namespace {

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_of(const std::vector<ElementRange>& ranges) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const ElementRange& range : ranges) pairs.emplace_back(range.begin, range.end);
  return pairs;
}

TEST(ChangedRows, GoAsAWholeWhereTheirRankSaysSo) {
  const Ownership owners({0, 4, 4, 9, 10});
  using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  EXPECT_EQ(pairs_of(whole_row_ranges(owners, std::vector{kAllRows, kAllRows, std::uint64_t{2}, kAllRows})),
            (Pairs{{0, 4}, {4, 4}, {0, 0}, {9, 10}}));
  EXPECT_TRUE(all_empty(whole_row_ranges(owners, std::vector<std::uint64_t>{3, 0, 2, 0})));
  EXPECT_TRUE(all_empty(whole_row_ranges(owners, std::vector<std::uint64_t>{3, kAllRows, 2, 0})));
}

TEST(ChangedRows, GoOneByOneInPlacesOfTheirRank) {
  const std::vector<std::uint64_t> sent{5, kAllRows, 0, 16, 6};
  constexpr std::uint64_t kCapacity = 6;
  std::vector<std::uint64_t> travelled(sent.size(), 0);
  std::uint64_t done = 0;
  for (;; done += kCapacity) {
    const std::vector<ElementRange> places = entry_ranges(sent, done, kCapacity);
    if (all_empty(places)) break;
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
      EXPECT_EQ(places[rank].begin, rank * kCapacity);
      EXPECT_LE(places[rank].end, (rank + 1) * kCapacity);
      const std::uint64_t left = sent[rank] == kAllRows ? 0 : sent[rank] - travelled[rank];
      EXPECT_EQ(places[rank].end - places[rank].begin, std::min(kCapacity, left));
      travelled[rank] += places[rank].end - places[rank].begin;
    }
  }

  EXPECT_EQ(done, 18u);
  EXPECT_EQ(travelled, (std::vector<std::uint64_t>{5, 0, 0, 16, 6}));
}

TEST(ChangedRows, HaveAlignedPlaces) {
  for (const std::uint64_t vertices : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, kParcelEntries,
                                       kParcelEntries + 1, std::uint64_t{1} << 40}) {
    const std::uint64_t capacity = entries_per_exchange(vertices);
    EXPECT_EQ(capacity % 2, 0u);
    EXPECT_GE(capacity, std::clamp<std::uint64_t>(vertices, 1, kParcelEntries));
    EXPECT_LE(capacity, kParcelEntries);
  }
}

}  // namespace
}  // namespace sluice::pagerank
