// User-defined samplers, compiled from one source, give the same results on a GPU and on the host.
#include <gtest/gtest.h>

#include <memory>

#include "apps/examples/core_nodes.hpp"
#include "apps/examples/importance_sample.hpp"
#include "apps/examples/non_backtracking_walk.hpp"
#include "apps/examples/rare_layers.hpp"
#include "apps/examples/weighted_pool.hpp"
#include "samples/layer_samplers.hpp"
#include "samples/one_pass_samplers.hpp"
#include "samples/pool_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<Device> open_gpu() {
  try {
    return std::make_unique<Device>(DeviceOptions{DeviceChoice::cuda, 2, 0});
  } catch (const std::exception&) {
    return nullptr;
  }
}

TEST(ExamplesOnGpu, NonBacktrackingWalkIsTheHosts) {
  const auto gpu = open_gpu();
  if (!gpu) GTEST_SKIP() << "no usable GPU";
  const Graph graph = scattered(3000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph);
  walks::Options options;
  options.length = 20;
  for (const Select select : {Select::automatic, Select::its}) {
    options.select = select;
    WalkDigest expected, seen;

    walks::run_walk(on_host, Starts{}, NonBacktrackingWalk{}, options, &expected);
    walks::run_walk(on_gpu, Starts{}, NonBacktrackingWalk{}, options, &seen);

    EXPECT_GT(expected.count(), 0u);
    EXPECT_TRUE(seen == expected);
  }
}

TEST(ExamplesOnGpu, ImportanceSampleIsTheHosts) {
  const auto gpu = open_gpu();
  if (!gpu) GTEST_SKIP() << "no usable GPU";
  const Graph graph = scattered(3000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph);
  samples::Options options;
  for (const bool revisit : {false, true}) {
    options.revisit = revisit;
    SampleDigest expected, seen;

    samples::run_sample(on_host, Starts{}, ImportanceSample{.depths = 3}, options, &expected);
    samples::run_sample(on_gpu, Starts{}, ImportanceSample{.depths = 3}, options, &seen);

    EXPECT_GT(expected.count(), 0u);
    EXPECT_TRUE(seen == expected);
  }
}

std::uint64_t drawn(const WalkDigest& pools) {
  return pools.count();
}
std::uint64_t drawn(const SampleDigest& samples) {
  return samples.edge.count();
}

/// Compares `run(graph, digest)` on the host with the GPU, which holds the graph whole and in partitions.
template <class Found, class Run>
void expect_the_hosts(const Run& run) {
  const auto gpu = open_gpu();
  if (!gpu) GTEST_SKIP() << "no usable GPU";
  const Graph graph = scattered(3000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph),
      in_parts(*gpu, graph, {.partitions = 7, .slots = 2});
  Found expected, seen, parts;

  run(on_host, &expected);
  run(on_gpu, &seen);
  run(in_parts, &parts);

  EXPECT_GT(drawn(expected), 0u);
  EXPECT_TRUE(seen == expected);
  EXPECT_TRUE(parts == expected);
}

template <class Sampler>
void expect_pools_are_the_hosts(const Sampler& sampler) {
  expect_the_hosts<WalkDigest>([&](ResidentGraph& graph, WalkDigest* digest) {
    samples::run_pool(graph, random_starts(500), sampler, 12, walks::Options{}, digest);
  });
}

TEST(ExamplesOnGpu, WeightedPoolsAreTheHosts) {
  expect_pools_are_the_hosts(WeightedPool{});
}

TEST(ExamplesOnGpu, PoolsThatOneWarpIsTooSmallForAreTheHosts) {
  expect_pools_are_the_hosts(WeightedPool{.seeds = 5000});
}

TEST(ExamplesOnGpu, PoolsThatLoseEntriesAreTheHosts) {
  expect_pools_are_the_hosts(PickyPool{});
}

TEST(ExamplesOnGpu, PoolsWithoutReplacementAreTheHosts) {
  expect_pools_are_the_hosts(TwoDistinct{{.seeds = 40}});
  expect_pools_are_the_hosts(FiveOfOne{.seeds = 5000});
}

template <class Sampler>
void expect_layers_are_the_hosts(const Sampler& sampler) {
  samples::Options options;
  for (const bool revisit : {false, true}) {
    options.revisit = revisit;
    expect_the_hosts<SampleDigest>([&](ResidentGraph& graph, SampleDigest* digest) {
      samples::run_layer(graph, seed_lists(400, graph.graph().vertices()), sampler, options, digest);
    });
  }
}

TEST(ExamplesOnGpu, RareLayersAreTheHosts) {
  expect_layers_are_the_hosts(RareLayers{});
}

TEST(ExamplesOnGpu, LayersOfSelectedEntriesAreTheHosts) {
  expect_layers_are_the_hosts(ThriftyLayers{});
  expect_layers_are_the_hosts(SparePlainLayers{});
}

template <class Sampler>
void expect_one_pass_is_the_hosts(const Sampler& sampler) {
  expect_the_hosts<SampleDigest>([&](ResidentGraph& graph, SampleDigest* digest) {
    samples::run_one_pass(graph, random_starts(500), sampler, samples::Options{}, digest);
  });
}

TEST(ExamplesOnGpu, CoreNodesAreTheHosts) {
  expect_one_pass_is_the_hosts(CoreNodes{});
}

TEST(ExamplesOnGpu, EarlyEdgesAreTheHosts) {
  expect_one_pass_is_the_hosts(EarlyEdges{});
}

}  // namespace
}  // namespace sluice::test
