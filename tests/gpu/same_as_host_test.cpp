// The host backend is the oracle: every kind and technique gives the same datasets on a GPU, bit for bit.
#include <gtest/gtest.h>

#include "engine/residency/resident_graph.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// A GPU, or nothing: the tests say skipped.
std::unique_ptr<Device> open_gpu(std::uint64_t memory = 0) {
  try {
    return std::make_unique<Device>(DeviceOptions{DeviceChoice::cuda, 2, memory});
  } catch (const std::exception&) {
    return nullptr;
  }
}

#define REQUIRE_GPU(device) \
  if (!(device)) GTEST_SKIP() << "no usable GPU"

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

TEST(SameAsHostLarge, EveryKindOnRmatOfScale20) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(20, true, 16);
  expect_same(graph, *gpu, walk_jobs(20000));
  expect_same(graph, *gpu, sample_jobs(4000, graph.vertices()));
}

TEST(SameAsHostLarge, DirectedRmatOfScale14) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(14, false);
  expect_same(graph, *gpu, walk_jobs(5000));
  expect_same(graph, *gpu, sample_jobs(2000, graph.vertices()));
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

TEST(SameAsHostSmallMemory, WavesOfAnySizeGiveTheSame) {
  const auto gpu = open_gpu(24u << 20);
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(2000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, graph), on_gpu(*gpu, graph);
  WalkOptions walk;
  walk.length = 80;
  const Job walks = walk_job("uniform", random_starts(100000), walk);
  SampleOptions sample;
  sample.fanout = {15, 10};
  const Job samples = sample_job("neighbor", random_starts(20000), sample);

  EXPECT_TRUE(walks.run(on_gpu) == walks.run(on_host));
  EXPECT_TRUE(samples.run(on_gpu) == samples.run(on_host));
  EXPECT_LE(gpu->memory().peak(), 24u << 20);
}

}  // namespace
}  // namespace sluice::test
