// User-defined pools, whole and in partitions, and how they grow and shrink.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "samples/pool_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

template <class Sampler>
WalkDigest digest_of(ResidentGraph& graph, const Sampler& sampler, std::uint32_t length) {
  WalkDigest digest;
  samples::run_pool(graph, random_starts(100), sampler, length, walks::Options{}, &digest);
  return digest;
}

TEST(UserPool, IsTheBuiltInKindWhereItSaysTheSame) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  walks::Options options;
  options.kind = walks::Kind::multidimensional, options.length = 30, options.frontier_size = 12;
  WalkDigest expected;

  sampling::run_walks(resident, random_starts(100), options, &expected);

  EXPECT_GT(expected.count(), 0u);
  EXPECT_TRUE(digest_of(resident, SpelledOut{}, 30) == expected);
}

template <class Sampler>
void expect_same_in_partitions(const Sampler& sampler) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = 9, .slots = 2});

  const WalkDigest expected = digest_of(whole, sampler, 20);

  EXPECT_GT(expected.count(), 0u);
  EXPECT_TRUE(digest_of(parts, sampler, 20) == expected);
}

TEST(UserPool, IsTheSameInPartitions) {
  expect_same_in_partitions(TwoByTwo{});
  expect_same_in_partitions(TwoDistinct{});
  expect_same_in_partitions(FiveOfOne{});
  expect_same_in_partitions(PickyPool{});
  expect_same_in_partitions(SpelledOut{});
}

TEST(UserPool, SelectsEachNeighborOnceWithoutReplacement) {
  struct Steps : WalkSink {
    void write(const WalkBatch& batch) override {
      constexpr std::size_t kWidth = 5;
      for (std::size_t at = 0; at < batch.edges.size(); at += 2 * kWidth) {
        const Vertex* const edges = &batch.edges[at];
        std::set<Vertex> targets;
        std::size_t count = 0;
        for (; count < kWidth && edges[2 * count] != kNoVertex; ++count) {
          EXPECT_EQ(edges[2 * count], edges[0]);
          EXPECT_TRUE(targets.insert(edges[2 * count + 1]).second);
        }
        for (std::size_t j = count; j < kWidth; ++j) EXPECT_EQ(edges[2 * j], kNoVertex);
        if (count == 0) continue;
        EXPECT_EQ(count, std::min<std::size_t>(kWidth, edges[0] % 9 + 1));
        shorter += count < kWidth;
        seen += count;
      }
    }
    std::uint64_t shorter = 0, seen = 0;
  } steps;
  Graph graph;  // vertex v has edges to the v % 9 + 1 next vertices
  constexpr std::size_t kVertices = 200;
  graph.out.offsets = HostArray<EdgeIndex>(kVertices + 1);
  graph.out.offsets[0] = 0;
  for (std::size_t v = 0; v < kVertices; ++v) graph.out.offsets[v + 1] = graph.out.offsets[v] + v % 9 + 1;
  graph.out.targets = HostArray<Vertex>(graph.out.offsets[kVertices]);
  for (std::size_t v = 0; v < kVertices; ++v)
    for (std::size_t i = 0; i <= v % 9; ++i)
      graph.out.targets[graph.out.offsets[v] + i] = static_cast<Vertex>((v + i + 1) % kVertices);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);

  const RunStats stats =
      samples::run_pool(resident, random_starts(100), FiveOfOne{}, 30, walks::Options{}, &steps);

  EXPECT_GT(steps.shorter, 0u);
  EXPECT_EQ(stats.sampled_edges, steps.seen);
}

/// Reconstructs the pools from the recorded edges: a step may only select entries that were present before
/// it.
struct Follower : WalkSink {
  explicit Follower(std::size_t a_step) : width(a_step) {}

  void write(const WalkBatch& batch) override {
    const std::size_t seeds = batch.pool.size() / batch.count, row = batch.length * width;
    for (std::size_t i = 0; i < batch.count; ++i) {
      std::map<Vertex, std::int64_t> pool;
      for (std::size_t s = 0; s < seeds; ++s) ++pool[batch.pool[i * seeds + s]];
      for (std::size_t step = 0; step < batch.length; ++step)
        follow(pool, &batch.edges[2 * (i * row + step * width)]);
    }
  }
  void follow(std::map<Vertex, std::int64_t>& pool, const Vertex* edges) {
    auto left = pool;
    for (std::size_t j = 0; j < width && edges[2 * j] != kNoVertex; ++j) {
      const Vertex from = edges[2 * j], to = edges[2 * j + 1];
      EXPECT_GT(left[from]--, 0);
      --pool[from];
      if (to % 5 != 0) ++pool[leads(from, to)];
      ++edges_seen;
    }
  }
  std::function<Vertex(Vertex, Vertex)> leads;
  std::size_t width;
  std::uint64_t edges_seen = 0;
};

TEST(UserPool, SelectsWhatEarlierStepsBrought) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  Follower follower(2);
  follower.leads = [&](Vertex from, Vertex to) {
    return (graph.out.offsets[to + 1] - graph.out.offsets[to]) % 2 == 0 ? from : to;
  };

  const RunStats stats =
      samples::run_pool(resident, random_starts(100), PickyPool{}, 50, walks::Options{}, &follower);

  EXPECT_GT(follower.edges_seen, 0u);
  EXPECT_LT(follower.edges_seen, 100u * 50 * 2);  // entries are dropped, and pools end
  EXPECT_EQ(stats.sampled_edges, follower.edges_seen);
}

TEST(UserPool, RefusesNoEntryAndTooManyEdges) {
  struct Sized : TwoByTwo {
    std::uint32_t entries = 0;
    SLUICE_HD std::uint32_t frontier_size() const { return entries; }
  };
  const Graph graph = scattered(50);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph resident(device, graph);
  const auto run = [&](std::uint32_t entries, std::uint32_t length) {
    samples::run_pool(resident, random_starts(1), Sized{{}, entries}, length, walks::Options{}, nullptr);
  };

  EXPECT_THROW(run(0, 3), UsageError);
  EXPECT_THROW(run(kMaxDraws, 3), UsageError);
  EXPECT_THROW(run(1u << 20, 1u << 20), UsageError);
  EXPECT_NO_THROW(run(4, 3));  // more than a list has
}

}  // namespace
}  // namespace sluice::test
