// Bytes of an edge's columns, and bytes that draws read.
#include "engine/graph/page_columns.hpp"

#include <gtest/gtest.h>

#include "engine/graph/read_bytes.hpp"

namespace sluice {
namespace {

TEST(PageColumns, AddUpTheColumnsThatARunReads) {
  EXPECT_EQ(PageColumns().bytes_per_edge(), 4u) << "the target";
  EXPECT_EQ((PageColumns{.weights = true}.bytes_per_edge()), 4u + 4u);
  EXPECT_EQ((PageColumns{.cumulative = true}.bytes_per_edge()), 4u + 8u);
  EXPECT_EQ((PageColumns{.alias = true}.bytes_per_edge()), 4u + 8u + 4u);
  EXPECT_EQ((PageColumns{.weights = true, .cumulative = true, .alias = true}.bytes_per_edge()),
            4u + 4u + 8u + 8u + 4u);
}

/// The number of steps of a binary search that always continues in the longer half.
std::uint32_t longest_search(std::uint32_t size) {
  std::uint32_t looks = 0;
  for (; size > 0; size /= 2) ++looks;
  return looks;
}

TEST(ReadBytes, OfABinarySearchAreItsLongestPath) {
  for (std::uint32_t size = 0; size < 70; ++size) EXPECT_EQ(search_reads(size), longest_search(size)) << size;
  EXPECT_EQ(search_reads(~0u), 32u);
}

TEST(ReadBytes, OfACtpsAreItsTotalAndTheSumsSearched) {
  EXPECT_EQ(ctps_bytes(1), 8u + 8u);
  EXPECT_EQ(ctps_bytes(100), 8u + 7 * 8u);
}

TEST(ReadBytes, OfACodedSearchGrowWithItsSamples) {
  EXPECT_EQ(coded_search_bytes(63), 4 * 4u) << "no sample";
  EXPECT_EQ(coded_search_bytes(64), (4 + 2) * 4u);
  EXPECT_EQ(coded_search_bytes(64 * 8), (4 + 2 * 4) * 4u);
}

}  // namespace
}  // namespace sluice
