// The cores and the GPU that each rank gets, on made-up machines.
#include "engine/exchange/placement.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Ranks of one machine that see the same 8 cores and the same GPUs.
std::vector<RankView> alike(std::size_t ranks, const std::vector<std::string>& gpus, int node = 0) {
  return std::vector<RankView>(ranks, RankView{node, "0-7", 8, gpus});
}

TEST(Placement, ARankAloneTakesAllCoresAndTheFirstGpu) {
  const Placement alone = place_rank(alike(1, {"a", "b"}), 0);

  EXPECT_EQ(alone.threads, 8u);
  EXPECT_EQ(alone.gpu, 0);
  EXPECT_EQ(alone.gpu_ranks, 1);
}

TEST(Placement, CoresAreDividedAmongThoseWhoSeeTheSame) {
  const auto views = alike(3, {});

  EXPECT_EQ(place_rank(views, 0).threads, 3u);
  EXPECT_EQ(place_rank(views, 1).threads, 3u);
  EXPECT_EQ(place_rank(views, 2).threads, 2u);
  EXPECT_EQ(place_rank(alike(20, {}), 19).threads, 1u) << "a thread each, at least";
}

TEST(Placement, BoundRanksKeepTheirCores) {
  const std::vector<RankView> views{{0, "0-3", 4, {}}, {0, "4-7", 4, {}}};

  EXPECT_EQ(place_rank(views, 0).threads, 4u);
  EXPECT_EQ(place_rank(views, 1).threads, 4u);
}

TEST(Placement, GpusAreTakenInTurn) {
  const auto views = alike(4, {"a", "b", "c", "d"});

  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(place_rank(views, rank).gpu, rank);
    EXPECT_EQ(place_rank(views, rank).gpu_ranks, 1);
  }
}

TEST(Placement, AGpuPerTaskIsTaken) {
  const std::vector<RankView> views{{0, "0-7", 8, {"a"}}, {0, "0-7", 8, {"b"}}};

  EXPECT_EQ(place_rank(views, 1).gpu, 0);
  EXPECT_EQ(place_rank(views, 1).gpu_ranks, 1);
}

TEST(Placement, MoreRanksThanGpusAreCounted) {
  const auto views = alike(5, {"a", "b"});

  EXPECT_EQ(place_rank(views, 0).gpu_ranks, 3);
  EXPECT_EQ(place_rank(views, 3).gpu, 1);
  EXPECT_EQ(place_rank(views, 3).gpu_ranks, 2);
}

TEST(Placement, MachinesDoNotMix) {
  auto views = alike(2, {"a", "b"});
  const auto others = alike(2, {"a", "b"}, 2);
  views.insert(views.end(), others.begin(), others.end());

  EXPECT_EQ(place_rank(views, 2).gpu, 0);
  EXPECT_EQ(place_rank(views, 3).gpu, 1);
  EXPECT_EQ(place_rank(views, 3).gpu_ranks, 1);
  EXPECT_EQ(place_rank(views, 3).threads, 4u);
}

TEST(Placement, NoGpuIsNoGpu) {
  EXPECT_EQ(place_rank(alike(2, {}), 1).gpu_ranks, 0);
}

}  // namespace
}  // namespace sluice
