// Samples with dynamic bias equal the host's, bit for bit. Cases are every technique, with and without tree
// semantics, lists of hubs, any budget, and partitions. The GPU refuses what the host refuses.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "apps/bench/papers/out_of_order_grower.hpp"
#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "samples/dynamic_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// Some lists hold a third of all vertices: 6,666, more than GraphView::kHubDegree.
const Graph& with_hubs() {
  static const Graph graph = scattered(20000);
  return graph;
}

class DynamicOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu) GTEST_SKIP() << "no usable GPU";
  }

  template <class Sampler>
  void expect_same(const Sampler& sampler, std::initializer_list<Select> techniques,
                   std::uint64_t instances) {
    Device host({DeviceChoice::host, 2, 0});
    ResidentGraph on_host(host, with_hubs());
    const PagingOptions whole, parts{.partitions = 7, .slots = 2, .transport = Transport::copied};
    instances = at_most(instances, 60);
    const Starts starts = seed_lists(instances, with_hubs().vertices());
    for (const Select select : techniques) {
      for (const bool revisit : {false, true}) {
        samples::Options options;
        options.select = select, options.revisit = revisit, options.seed = 7;
        SampleDigest expected, seen, seen_in_parts, seen_apart;

        const RunStats by_host = samples::run_sample(on_host, starts, sampler, options, &expected);
        // The graphs exist one after the other, since a small budget holds only one.
        const auto on_gpu = [&](const PagingOptions& paging, SampleDigest& digest) {
          ResidentGraph graph(*gpu, with_hubs(), paging);
          return samples::run_sample(graph, starts, sampler, options, &digest);
        };
        const RunStats by_gpu = on_gpu(whole, seen);
        on_gpu(parts, seen_in_parts);

        EXPECT_GT(by_host.sampled_edges, instances);
        EXPECT_TRUE(seen == expected) << "technique " << static_cast<int>(select) << ' ' << revisit;
        EXPECT_TRUE(seen_in_parts == expected) << "technique " << static_cast<int>(select) << ' ' << revisit;
        EXPECT_EQ(by_gpu.selections, by_host.selections);
        EXPECT_EQ(by_gpu.selection_iterations, by_host.selection_iterations);
        if (!revisit) continue;
        ResidentGraph graph(*gpu, with_hubs(), parts);
        samples::run_sample<bench::papers::OutOfOrderGrower>(graph, starts, sampler, options, &seen_apart);
        EXPECT_TRUE(seen_apart == expected) << "out of order " << static_cast<int>(select);
      }
    }
  }

  std::unique_ptr<Device> gpu = open_gpu();
};

constexpr std::initializer_list<Select> kDistinct = {Select::automatic, Select::updated, Select::repeated};
constexpr std::initializer_list<Select> kReplaced = {Select::rejection, Select::its};

TEST_F(DynamicOnGpu, DistinctEdgesAreTheHosts) {
  expect_same(Remembering<false, false>{3, 5}, kDistinct, 1000);
  expect_same(Remembering<false, false, false, true>{3, 5}, kDistinct, 1000);
  expect_same(Remembering<false, true, true>{3, 5}, kDistinct, 1000);
  expect_same(Picky{{.depths = 3, .fanout = 5}}, kDistinct, 1000);
}

TEST_F(DynamicOnGpu, ManyEdgesOfHubsAreTheHosts) {
  expect_same(Remembering<false, false>{2, 300}, kDistinct, 40);
  expect_same(Remembering<false, false>{2, samples::kAllNeighbors}, {Select::automatic}, 40);
}

TEST_F(DynamicOnGpu, RepeatedEdgesAreTheHosts) {
  expect_same(Remembering<true, true>{3, 5}, kReplaced, 1000);
  expect_same(Remembering<true, true, false, true>{3, 5}, kReplaced, 1000);
  expect_same(Remembering<true, true, true>{3, 5}, kReplaced, 1000);
  expect_same(Remembering<true, true>{2, 5, 3000}, {Select::rejection}, 100);
  expect_same(Remembering<true, false>{2, 100}, {Select::automatic}, 40);
}

/// Lists of hubs need launches of their own, bitmaps, and scratch memory that only few warps can have.
TEST_F(DynamicOnGpu, PartitionsSideBySideAreTheHosts) {
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph on_host(host, with_hubs());
  const Starts starts = seed_lists(at_most(500, 60), with_hubs().vertices());
  const Remembering<false, false> sampler{2, 40};
  samples::Options options;
  options.collision = Collision::bitmap;
  SampleDigest expected;
  samples::run_sample(on_host, starts, sampler, options, &expected);
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{24} << 20}) {
    gpu = open_gpu(budget);
    for (const Balance balance : {Balance::automatic, Balance::on, Balance::off}) {
      ResidentGraph parts(*gpu, with_hubs(),
                          {.partitions = 7, .slots = 3, .transport = Transport::copied, .balance = balance});
      SampleDigest digest;
      const RunStats stats = samples::run_sample(parts, starts, sampler, options, &digest);

      EXPECT_TRUE(digest == expected) << budget << ' ' << static_cast<int>(balance);
      EXPECT_EQ(stats.kernels.rounds > 0, balance != Balance::automatic);
    }
  }
}

TEST_F(DynamicOnGpu, SmallBudgetsGiveTheSame) {
  gpu = open_gpu(24u << 20);
  expect_same(Remembering<false, false>{2, 40}, {Select::automatic}, 2000);
  EXPECT_LE(gpu->memory().peak(), 24u << 20);
}

TEST_F(DynamicOnGpu, RefusesWhatTheHostRefuses) {
  ResidentGraph on_gpu(*gpu, with_hubs());
  const Starts starts = random_starts(100);
  samples::Options options;
  EXPECT_THROW(samples::run_sample(on_gpu, starts, Heavy<false>{std::uint64_t{1} << 63}, options, nullptr),
               UsageError);
  EXPECT_THROW(samples::run_sample(on_gpu, starts, Heavy<true>{1, kMaxDraws + 1}, options, nullptr),
               UsageError);
}

/// One region is far wider than all others together, so every later pick redraws a thousand times.
/// SampleLimits tests the host's refusal.
TEST_F(DynamicOnGpu, RefusesPicksThatClashTooOften) {
  const std::uint64_t degree = kMaxWords / 1000 + 100;
  Graph graph;
  graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(2);
  graph.out.offsets[0] = 0, graph.out.offsets[1] = degree;
  graph.out.targets = HostArray<Vertex>(degree);
  graph.out.weights = HostArray<float>(degree);
  for (std::uint64_t i = 0; i < degree; ++i) graph.out.targets[i] = 0, graph.out.weights[i] = i ? 1 : 0x1p31f;
  ResidentGraph on_gpu(*gpu, graph);
  samples::Options options;
  options.bias = Bias::weight, options.select = Select::repeated;
  options.fanout = std::vector<std::int64_t>{static_cast<std::int64_t>(degree) - 98};
  EXPECT_THROW(sampling::run_samples(on_gpu, {}, options, nullptr), UsageError);
}

}  // namespace
}  // namespace sluice::test
