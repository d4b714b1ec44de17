// Uniform sets of vertices and of edges, and walks of a pool.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "statistical/graphs.hpp"
#include "statistical/one_pass_checks.hpp"

namespace sluice::stat {
namespace {

TEST(NodeSample, DrawsUniformSetsAndTheEdgesBetweenThem) {
  Bench small(pocket()), large(zoo());

  for (const std::uint64_t count : {1u, 3u, 7u, 8u}) {
    EXPECT_TRUE(fits(check_nodes(small, scaled(300000), count, 401))) << count;
  }
  EXPECT_TRUE(fits(check_nodes(large, scaled(20000), 50, 402)));
  EXPECT_TRUE(fits(check_nodes(large, scaled(2000), large.graph.vertices() - 1, 403)));
}

TEST(EdgeSample, DrawsUniformSets) {
  Bench small(pocket()), large(zoo());

  for (const std::uint64_t count : {1u, 2u, 17u, 18u}) {
    EXPECT_TRUE(fits(check_edges(small, scaled(300000), count, 411))) << count;
  }
  EXPECT_TRUE(fits(check_edges(large, scaled(20000), 100, 412)));
}

TEST(OnePassSamples, RefuseMoreThanThereIs) {
  Bench bench(pocket());
  EXPECT_THROW(check_nodes(bench, 10, 9, 1), InputError);
  EXPECT_THROW(check_edges(bench, 10, 19, 1), InputError);
}

walks::Options pool_walk(std::uint32_t size, std::uint32_t length, std::uint64_t seed) {
  walks::Options options;
  options.kind = walks::Kind::multidimensional;
  options.frontier_size = size;
  options.length = length;
  options.seed = seed;
  return options;
}

TEST(MultidimensionalWalk, PicksByDegreeAndReplaces) {
  Bench bench(pocket());
  for (const std::uint32_t size : {1u, 2u, 3u})
    EXPECT_TRUE(fits(check_multidimensional(bench, random_starts(scaled(300000)), pool_walk(size, 8, 421))))
        << size;
}

TEST(MultidimensionalWalk, EndsWhenNoEntryHasNeighbours) {
  Bench bench(pocket());
  const Starts starts = repeat_seeds({{6, 7}, {6, 5}, {5, 5}, {7, 7}, {3, 5}}, scaled(50000));

  EXPECT_TRUE(fits(check_multidimensional(bench, starts, pool_walk(2, 5, 422))));
}

TEST(MultidimensionalWalk, HandlesHubsAndLargePools) {
  Bench bench(zoo());
  const Starts starts =
      repeat_seeds({{kHub, kTen, kParallel}, {kTwoLoops, kDeadEnd, kSelfLoop}}, scaled(200000));
  std::vector<Vertex> all;
  for (Vertex v = 0; v < kSpecials; ++v) all.push_back(v);

  EXPECT_TRUE(fits(check_multidimensional(bench, starts, pool_walk(3, 2, 423))));
  EXPECT_TRUE(
      fits(check_multidimensional(bench, repeat_seeds({all}, scaled(400000)), pool_walk(kSpecials, 1, 424))));
}

TEST(MultidimensionalWalk, StepsAreIndependent) {
  Bench bench(pocket());

  EXPECT_TRUE(fits(check_multidimensional(bench, random_starts(scaled(300000)), pool_walk(2, 8, 425), true)));
}

}  // namespace
}  // namespace sluice::stat
