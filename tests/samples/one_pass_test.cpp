// User-defined one-pass samplers: what they draw from, and which requests are refused.
#include <gtest/gtest.h>

#include <vector>

#include "apps/examples/core_nodes.hpp"
#include "engine/core/error.hpp"
#include "samples/one_pass_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// Counts how often each vertex, or each edge, is drawn.
struct Times : SampleSink {
  Times(std::uint64_t each, std::uint64_t all) : size(each), drawn(all) {}
  void write(const SampleBatch& batch) override {
    const bool edges = batch.vertex_counts.empty();
    for (const std::uint64_t count : edges ? batch.edge_counts : batch.vertex_counts) EXPECT_EQ(count, size);
    for (const Vertex v : batch.vertices) ++drawn[v];
    for (const EdgeIndex e : edges ? batch.edge : std::span<const EdgeIndex>()) ++drawn[e];
  }
  std::uint64_t size;
  std::vector<std::uint64_t> drawn;
};

template <class Sampler>
void expect_draws_from_universe(const Sampler& sampler) {
  const Graph graph = scattered(300);
  const std::uint64_t universe = sampler.universe(graph);
  Device device({DeviceChoice::host, 2, 0});
  for (const std::uint64_t partitions : {1, 9}) {
    ResidentGraph resident(device, graph, {.partitions = partitions, .slots = 2});
    Times times(sampler.sample_size(graph), graph.vertices() + graph.edges());

    samples::run_one_pass(resident, random_starts(2000), sampler, samples::Options{}, &times);

    for (std::uint64_t i = 0; i < times.drawn.size(); ++i) ASSERT_EQ(times.drawn[i] > 0, i < universe) << i;
  }
}

TEST(UserOnePass, DrawsFromItsUniverse) {
  expect_draws_from_universe(CoreNodes{});
  expect_draws_from_universe(EarlyEdges{});
}

TEST(UserOnePass, IsTheSameInPartitions) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = 9, .slots = 2});
  const auto same = [&](const auto& sampler) {
    SampleDigest expected, digest;
    samples::run_one_pass(whole, random_starts(80), sampler, samples::Options{}, &expected);
    samples::run_one_pass(parts, random_starts(80), sampler, samples::Options{}, &digest);
    return expected.edge.count() > 0 && digest == expected;
  };

  EXPECT_TRUE(same(CoreNodes{}));
  EXPECT_TRUE(same(EarlyEdges{}));
}

TEST(UserOnePass, DrawsNoMoreThanThereIs) {
  const Graph graph = scattered(100);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph resident(device, graph);
  const auto run = [&](std::uint64_t size, std::uint64_t universe) {
    samples::run_one_pass(resident, random_starts(2), Sized{size, universe}, samples::Options{}, nullptr);
  };

  EXPECT_NO_THROW(run(100, 100));
  EXPECT_THROW(run(0, 100), UsageError);
  EXPECT_THROW(run(5, 101), UsageError);
  EXPECT_THROW(run(6, 5), InputError);
}

}  // namespace
}  // namespace sluice::test
