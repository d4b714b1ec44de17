// Origin ranks are joined while 32 bits can number their instances.
#include "engine/samples/partitioned/sample_origins.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// The instance of an entry of rank `rank` after its origin rank was joined with others.
Instance instance_of(const samples::JoinedOrigins& joined, std::size_t origin, std::size_t rank,
                     std::uint32_t instance) {
  return joined.origins[origin].first + (instance + joined.shifts[rank]);
}

TEST(SampleOrigins, AreOneWhereTheirInstancesAreClose) {
  const std::vector<samples::OriginBatch> batches{{100, 50}, {200, 50}, {150, 0}};
  const std::vector<std::uint64_t> entries{7, 0, 5};

  const samples::JoinedOrigins joined = samples::join_origins(batches, entries);

  ASSERT_EQ(joined.origins.size(), 1u);
  EXPECT_EQ(joined.origins[0].begin, 0u);
  EXPECT_EQ(joined.origins[0].end, 12u);
  for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(instance_of(joined, 0, r, 3), batches[r].first + 3);
}

TEST(SampleOrigins, AreSeveralWhereTheyAreFarApart) {
  constexpr Instance kFar = Instance{1} << 32;
  const std::vector<samples::OriginBatch> batches{{0, 10}, {kFar - 20, 20}, {kFar - 10, 11}, {5, 10}};
  const std::vector<std::uint64_t> entries{1, 2, 4, 8};

  const samples::JoinedOrigins joined = samples::join_origins(batches, entries);

  // The second rank's instances end at the last number that fits; those of the third rank begin behind it.
  ASSERT_EQ(joined.origins.size(), 2u);
  EXPECT_EQ(joined.origins[0].end, 3u);
  EXPECT_EQ(joined.origins[1].begin, 3u);
  EXPECT_EQ(joined.origins[1].end, 15u);
  EXPECT_EQ(instance_of(joined, 0, 1, 19), kFar - 1);
  EXPECT_EQ(instance_of(joined, 1, 2, 10), kFar);
  EXPECT_EQ(instance_of(joined, 1, 3, 9), 14u);
}

}  // namespace
}  // namespace sluice
