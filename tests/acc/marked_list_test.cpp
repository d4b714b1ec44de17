// Lists of marked vertices (engine/acc/rounds/marked_list.hpp).
#include "acc/marked_lists.hpp"

#include <gtest/gtest.h>

#include "engine/traverse/host_traverser.hpp"

namespace sluice::test {
namespace {

class MarkedListOf : public testing::TestWithParam<unsigned> {};

TEST_P(MarkedListOf, HasOwnVerticesInOrder) {
  const Device device({DeviceChoice::host, GetParam(), 0});
  for (const MarkedCase& marked : marked_cases()) {
    SCOPED_TRACE(marked.name);
    HostTraverser executor(device, 0);

    const FoundList found = list_marked(device, executor, marked);

    EXPECT_EQ(found.vertices, marked.expected());
    EXPECT_EQ(found.edges, 0u) << "threads count edges as they pull";
  }
}
INSTANTIATE_TEST_SUITE_P(Threads, MarkedListOf, testing::Values(1u, 3u));

TEST(MarkedList, IsWantedWhereManyPush) {
  using enum acc::AccFilter;
  EXPECT_TRUE(acc::should_ballot(ballot, 0, 1000));
  EXPECT_FALSE(acc::should_ballot(online, 1000, 1000));
  EXPECT_FALSE(acc::should_ballot(jit, 125, 1000));
  EXPECT_TRUE(acc::should_ballot(jit, 126, 1000));
}

TEST(Bits, OfAWordAreThoseWithinARange) {
  EXPECT_EQ(acc::range_mask(2, 0, 1000), ~0u);
  EXPECT_EQ(acc::range_mask(2, 64, 96), ~0u);
  EXPECT_EQ(acc::range_mask(2, 67, 1000), ~0u << 3);
  EXPECT_EQ(acc::range_mask(2, 10, 66), 3u);
  EXPECT_EQ(acc::range_mask(2, 65, 66), 2u);
  EXPECT_EQ(acc::range_mask(2, 95, 96), 1u << 31);
}

}  // namespace
}  // namespace sluice::test
