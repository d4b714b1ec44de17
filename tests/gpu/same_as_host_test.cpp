// The host backend is the oracle: every kind and technique gives the same datasets on a GPU, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/bench/generated_graph.hpp"
#include "engine/memory/resident_impl.hpp"
#include "gpu/gpu.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

void expect_same(const Graph& graph, Device& gpu, const std::vector<Job>& jobs) {
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph on_host(host, graph), on_gpu(gpu, graph);
  for (const Job& job : jobs) {
    const Outcome expected = job.run(on_host);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(on_gpu) == expected) << job.name;
  }
}

class SameAsHost : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SameAsHost, EveryWalk) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same(scattered(GetParam()), *gpu, walk_jobs(700));
}

TEST_P(SameAsHost, EverySample) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same(scattered(GetParam()), *gpu, sample_jobs(700, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SameAsHost, testing::Values(1000, 2000, 10000));

TEST(SameAsHostLarge, EveryKindOnUndirectedRmat) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const unsigned scale = rmat_scale();
  std::cout << "undirected R-MAT of scale " << scale << '\n';
  const Graph graph = rmat(scale, true, 16);
  expect_same(graph, *gpu, walk_jobs(instances_of(graph, 20000)));
  expect_same(graph, *gpu, sample_jobs(instances_of(graph, 4000), graph.vertices()));
}

TEST(SameAsHostLarge, EveryKindOnDirectedRmat) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const unsigned scale = std::min(rmat_scale(), 14u);
  std::cout << "directed R-MAT of scale " << scale << '\n';
  const Graph graph = rmat(scale, false);
  expect_same(graph, *gpu, walk_jobs(instances_of(graph, 5000)));
  expect_same(graph, *gpu, sample_jobs(instances_of(graph, 2000), graph.vertices()));
}

TEST(SameAsHostLarge, InstancesThatBlocksGrow) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(20000);  // lists of 6,666 entries: warps defer them to blocks
  expect_same(graph, *gpu, watched(large_jobs(graph.vertices()), 3, 4));
  if (!brief()) expect_same(graph, *gpu, sample_jobs(400, graph.vertices()));
}

/// Lists are copied to the GPU while others are being read; if there are many, each thread copies its own.
TEST(SameAsHostLarge, EdgesThatComeLateAreAllThere) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  io::ConvertOptions rules;
  rules.weights = io::WeightRule::uniform;
  for (const unsigned scale : {10u, 18u}) {
    const Graph graph = bench::generate_graph({io::GraphKind::rmat, scale, 40}, rules);
    EXPECT_EQ(graph.edges() * 8 >= 64u << 20, scale == 18) << "on one side of what is worth threads";
    const TemporaryFolder folder;
    const std::string path = folder / "graph.h5";
    io::write_graph(path, graph, false);
    const Graph coming = io::begin_reading(path, {}, 4);

    const ResidentGraph late(*gpu, coming);

    EXPECT_TRUE(coming.pending_edges->complete());
    std::vector<Vertex> targets(graph.edges());
    std::vector<float> weights(graph.edges());
    copy_to_host(*gpu, targets.data(), late.impl().targets.data(), graph.edges() * sizeof(Vertex));
    copy_to_host(*gpu, weights.data(), late.impl().weights.data(), graph.edges() * sizeof(float));
    EXPECT_TRUE(std::ranges::equal(targets, graph.out.targets.span()));
    EXPECT_TRUE(std::ranges::equal(weights, graph.out.weights.span()));
  }
}

/// Results leave a GPU in batches of 64 MiB; with unknown sizes, batches grow up to that size.
TEST(SameAsHostLarge, ResultsLeaveInSeveralBatches) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(std::min(rmat_scale(), 14u), true);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph);
  const auto same = [&](const char* name, const auto& run) {
    Outcome expected, found;
    run(on_host, expected);
    const RunStats stats = run(on_gpu, found);
    EXPECT_TRUE(found == expected) << name;
    EXPECT_GT(stats.batches, brief() ? 0u : 2u) << name;
  };
  same("walks", [&](ResidentGraph& on, Outcome& to) {
    return sampling::run_walks(on, random_starts(brief() ? 1000 : 1 << 20), {}, &to.walks);
  });
  for (const samples::Kind kind : {samples::Kind::neighbor, samples::Kind::forest_fire}) {
    samples::Options options;
    options.kind = kind, options.fanout = {10, 5};
    same(kind == samples::Kind::neighbor ? "neighbors" : "fires", [&](ResidentGraph& on, Outcome& to) {
      return sampling::run_samples(on, random_starts(brief() ? 1000 : 1 << 17), options, &to.samples);
    });
  }
}

TEST(SameAsHostPackings, EveryWalk) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(20000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), unpacked(*gpu, graph), tight(*gpu, graph);
  unpacked.impl().packing = {40, 24};
  tight.impl().packing = {30, 22};
  for (const Job& job : walk_jobs(2000)) {
    const Outcome expected = job.run(on_host);

    EXPECT_TRUE(job.run(unpacked) == expected) << job.name;
    EXPECT_TRUE(job.run(tight) == expected) << job.name;
  }
}

TEST(SameAsHostSmallMemory, BatchesOfAnySizeGiveTheSame) {
  const auto gpu = open_gpu(24u << 20);
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(2000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph);
  walks::Options walk;
  walk.length = 80;
  const Job walks = walk_job("uniform", random_starts(100000), walk);
  samples::Options sample;
  sample.fanout = {15, 10};
  const Job samples = sample_job("neighbor", random_starts(20000), sample);

  EXPECT_TRUE(walks.run(on_gpu) == walks.run(on_host));
  EXPECT_TRUE(samples.run(on_gpu) == samples.run(on_host));
  EXPECT_LE(gpu->memory().peak(), 24u << 20);
}

}  // namespace
}  // namespace sluice::test
