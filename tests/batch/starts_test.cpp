#include "engine/batch/starts.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Starts, DistinctKeepsEachVertexWhereItFirstComes) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = {5, 3, 5, 9, 3, 3, 7, 7};
  starts.offsets = {0, 5, 5, 6, 8};

  const Starts once = starts.distinct();

  EXPECT_EQ(once.vertices, (std::vector<Vertex>{5, 3, 9, 3, 7}));
  EXPECT_EQ(once.offsets, (std::vector<std::uint64_t>{0, 3, 3, 4, 5}));
  EXPECT_EQ(once.mode, Starts::Mode::listed);
}

TEST(Starts, OfOneVertexEachAreDistinct) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = {4, 4};
  EXPECT_EQ(starts.distinct().vertices, starts.vertices);
}

}  // namespace
}  // namespace sluice
