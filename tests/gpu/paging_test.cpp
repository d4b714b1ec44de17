// Walks and samples on a GPU with a graph in partitions equal those of the host with the whole graph, bit for
// bit.
#include <gtest/gtest.h>

#include "apps/bench/generated_graph.hpp"
#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/walks/queue/walk_queue.hpp"
#include "gpu/gpu.hpp"
#include "partition/elsewhere.hpp"
#include "sampling/jobs.hpp"
#include "sampling/out_of_order.hpp"

namespace sluice::test {
namespace {

/// Under a sanitizer there are few partitions. There are also few instances where each has launches of its
/// own, because one walk through partitions already makes hundreds of launches.
PagingOptions few_if_brief(PagingOptions paging) {
  if (brief()) paging.partitions = 3, paging.slots = 2;
  return paging;
}

std::uint64_t instances_if_brief(const PagingOptions& paging, std::uint64_t usually) {
  return at_most(usually, paging.batching ? 80 : 8);
}

void expect_same(const Graph& graph, Device& gpu, const PagingOptions& paging, std::uint64_t instances) {
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph), parts(gpu, graph, few_if_brief(paging));
  for (const Job& job : watched(walk_jobs(instances), paging.slots, 3)) {
    if (job.name.find("/wide") != std::string::npos) continue;
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
  for (const auto& [plain, coded] : watched(coded_walk_jobs(instances), paging.slots, 3))
    EXPECT_TRUE(coded.run(parts) == plain.run(whole)) << "coded " << coded.name;
}

void expect_same_samples(const Graph& graph, Device& gpu, const PagingOptions& paging,
                         std::uint64_t instances, RunSamples* run = sampling::run_samples) {
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph), parts(gpu, graph, few_if_brief(paging));
  for (const Job& job : watched(sample_jobs(instances, graph.vertices(), run), paging.partitions, 7)) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
  for (const auto& [plain, coded] :
       watched(coded_sample_jobs(instances, graph.vertices(), run), paging.partitions, 3))
    EXPECT_TRUE(coded.run(parts) == plain.run(whole)) << "coded " << coded.name;
}

class GpuPaging : public testing::TestWithParam<PagingOptions> {};

TEST_P(GpuPaging, WalksAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same(scattered(at_most(3000, 600)), *gpu, GetParam(), instances_if_brief(GetParam(), 700));
}

TEST_P(GpuPaging, SamplesAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same_samples(scattered(at_most(3000, 600)), *gpu, GetParam(), instances_if_brief(GetParam(), 400));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, GpuPaging,
    testing::Values(
        PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
        PagingOptions{.partitions = 7, .slots = 2, .transport = Transport::copied},
        PagingOptions{
            .partitions = 64, .slots = 3, .transport = Transport::copied, .schedule = SchedulePolicy::fifo},
        PagingOptions{.partitions = 7, .slots = 2, .transport = Transport::mapped},
        PagingOptions{.partitions = 64, .slots = 16, .transport = Transport::automatic},
        PagingOptions{.partitions = 4, .slots = 2, .transport = Transport::copied, .batching = false}));

/// The GPU has memory for a part of the lists and of the rows of walks, so rows leave the device in legs.
TEST(GpuPaging, WalksInLegsAreThoseOfTheHost) {
  const auto gpu = open_gpu((brief() ? 120u : 368u) << 10);
  REQUIRE_GPU(gpu);
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  const Graph graph = bench::generate_graph({io::GraphKind::rmat, brief() ? 8u : 13u, 8}, rules);
  const PagingOptions paging{.partitions = brief() ? 4u : 64u};
  const std::uint64_t walks = at_most(10'000, 400);
  constexpr std::uint64_t kSteps = 20, kRow = (kSteps + 1) * sizeof(Vertex);
  const PagedPlan plan = plan_pages(*gpu, graph, paging, {}, walks::queued_walk_bytes(false) + kRow, walks,
                                    kSteps, graph.out.offsets.size() * sizeof(EdgeIndex), kRow);
  ASSERT_LT(plan.leg, kSteps);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph), parts(*gpu, graph, paging);
  unsigned compared = 0;
  for (const Job& job : watched(walk_jobs(walks), 0, 50)) {
    if (job.name.find("/wide") != std::string::npos) continue;
    try {
      EXPECT_TRUE(job.run(parts) == job.run(whole)) << job.name;
      ++compared;
    } catch (const BudgetError&) {  // tables of vertices leave no memory for slots
    }
  }
  EXPECT_GE(compared, 1u);
}

TEST(GpuPaging, WalksOfPartitionsSideBySide) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const Balance balance : {Balance::on, Balance::off}) {
    for (const bool batching : {true, false}) {
      PagingOptions paging{.partitions = 7, .slots = 3, .transport = Transport::copied};
      paging.batching = batching, paging.balance = balance;
      expect_same(scattered(at_most(3000, 600)), *gpu, paging, instances_if_brief(paging, 700));
    }
  }
}

TEST(GpuPaging, SamplesOfPartitionsSideBySide) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(at_most(3000, 600));
  for (const Balance balance : {Balance::on, Balance::off}) {
    for (const bool batching : {true, false}) {
      PagingOptions paging{.partitions = 7, .slots = 3, .transport = Transport::copied};
      paging.batching = batching, paging.balance = balance;
      expect_same_samples(graph, *gpu, paging, instances_if_brief(paging, 400));
    }
  }
}

TEST(GpuPaging, SamplesOutOfOrderAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(at_most(3000, 600));
  for (const bool batching : {true, false}) {
    PagingOptions paging{.partitions = 7, .slots = 2, .transport = Transport::copied};
    paging.batching = batching;
    expect_same_samples(graph, *gpu, paging, instances_if_brief(paging, batching ? 400 : 40),
                        run_out_of_order_if_possible);
  }
}

TEST(GpuPaging, InstancesThatAreDoneWithADepthWaitForNoOthers) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_no_instance_waits(*gpu);
}

TEST(GpuPaging, TimesKernelsOfSamplesSideBySide) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(3000);
  samples::Options options;
  options.fanout = {4, 4};
  const auto times = [&](Balance balance) {
    ResidentGraph parts(*gpu, graph, {.partitions = 4, .slots = 4, .balance = balance});
    return sampling::run_samples(parts, {}, options, nullptr).kernels;
  };

  EXPECT_EQ(times(Balance::automatic).rounds, 0u);
  EXPECT_GT(times(Balance::on).rounds, 0u);
  EXPECT_GT(times(Balance::off).mean_seconds, 0);
}

/// Selections of more than 32 edges share scratch memory; some of the 40 partitions share a stream.
TEST(GpuPaging, LargeSamplesOfPartitionsSideBySide) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(at_most(3000, 600));
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph);
  samples::Options options;
  options.fanout = {64, 40}, options.bias = Bias::degree;
  const Starts starts = random_starts(at_most(500, 60));
  SampleDigest expected;
  sampling::run_samples(whole, starts, options, &expected);
  for (const std::uint32_t partitions : {4u, 40u}) {
    for (const Balance balance : {Balance::automatic, Balance::on, Balance::off}) {
      ResidentGraph parts(*gpu, graph,
                          {.partitions = partitions,
                           .slots = partitions,
                           .transport = Transport::copied,
                           .balance = balance});
      SampleDigest digest;
      const RunStats stats = sampling::run_samples(parts, starts, options, &digest);

      EXPECT_TRUE(digest == expected) << partitions << ' ' << static_cast<int>(balance);
      if (partitions != 4) continue;
      EXPECT_EQ(stats.kernels.rounds > 0, balance != Balance::automatic);
    }
  }
}

/// Samples with more entries than are drawn one by one: all make first choices, then clashes are drawn again.
TEST(GpuPaging, ManySamplesChooseFirst) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(at_most(3000, 600));
  const std::uint64_t instances = at_most(300000, 1000);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph);
  for (const Transport transport : {Transport::copied, Transport::mapped}) {
    ResidentGraph parts(*gpu, graph, {.partitions = 3, .slots = 2, .transport = transport});
    for (const bool replace : {false, true}) {
      samples::Options options;
      options.fanout = {3, 2}, options.replace = replace, options.revisit = replace;
      const Job job = sample_job("neighbor", random_starts(instances), options);
      EXPECT_TRUE(job.run(parts) == job.run(whole)) << replace;
    }
  }
}

TEST(GpuPagingLarge, WalksOnAnRmatInAQuarterOfItsMemory) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(rmat_scale(), true);
  expect_same(graph, *gpu, quarter_on_device(), instances_of(graph, 100000));
}

TEST(GpuPagingLarge, SamplesOfAnRmatInAQuarterOfItsMemory) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(rmat_scale(), true);
  expect_same_samples(graph, *gpu, quarter_on_device(), instances_of(graph, 5000));
}

/// Blocks process layers and counts, and hubs that warps defer to them.
TEST(GpuPagingLarge, InstancesTooLargeForAWarp) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rmat(rmat_scale(), true);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph), parts(*gpu, graph, quarter_on_device());
  for (const Job& job : large_jobs(graph.vertices())) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

TEST(GpuPagingLarge, LayersAndNodesKeepASmallBudget) {
  const Graph graph = scattered(at_most(100000, 30000));
  const std::uint64_t budget =
      graph.edges() * (sizeof(Vertex) + sizeof(float)) / 2 + (graph.vertices() + 1) * sizeof(EdgeIndex);
  const auto gpu = open_gpu(budget);
  REQUIRE_GPU(gpu);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph, {.partitions = 1}), parts(*gpu, graph);
  ASSERT_TRUE(parts.impl().paged);
  for (const samples::Kind kind : {samples::Kind::layer, samples::Kind::node}) {
    samples::Options options;
    options.kind = kind, options.layer_sizes = {30, 100}, options.bias = Bias::weight,
    options.count = graph.vertices() / 33;
    SampleDigest expected, digest;

    sampling::run_samples(whole, random_starts(at_most(1000, 100)), options, &expected);
    sampling::run_samples(parts, random_starts(at_most(1000, 100)), options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_LE(gpu->memory().peak(), budget);
  }
}

/// The GPU builds the tables of partitions from a file: lists of lanes and of hubs, with both techniques.
/// With too little memory for that, the host builds them.
TEST(GpuPagingLarge, TablesOfPartitionsFromAFileAreThoseOfTheHost) {
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  const auto make = [&] {
    return bench::generate_graph({io::GraphKind::rmat, brief() ? 9u : 17u, 16}, rules);
  };
  const Graph graph = make(), in_file = elsewhere(make());
  ASSERT_TRUE(brief() || longest_list(graph.out.offsets.span(), 1) > GraphView::kHubDegree);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph);
  constexpr std::uint64_t kLeast = 256u << 10;  // for the graph of a brief run
  for (const std::uint64_t memory : {std::uint64_t{0}, std::max(graph.edges() * 8, kLeast)}) {
    const auto gpu = open_gpu(memory);
    REQUIRE_GPU(gpu);
    ResidentGraph parts(*gpu, in_file, {.partitions = brief() ? 3u : 16u});
    for (const Select select : {Select::alias, Select::its}) {
      walks::Options options;
      options.kind = walks::Kind::biased, options.select = select, options.layout = Layout::csr;
      options.length = 10, options.seed = 7;
      WalkDigest expected, digest;

      sampling::run_walks(whole, random_starts(at_most(20'000, 200)), options, &expected);
      const RunStats stats =
          sampling::run_walks(parts, random_starts(at_most(20'000, 200)), options, &digest);

      EXPECT_TRUE(digest == expected) << "select " << static_cast<int>(select) << ", memory " << memory;
      // The GPU receives targets and weights, but no tables.
      const std::uint64_t most = stats.partition_transfers * graph.edges() / stats.partitions * 9;
      EXPECT_TRUE(memory > 0 || stats.host_to_device_bytes < most) << stats.host_to_device_bytes;
    }
  }
}

TEST(GpuPagingLarge, ASmallBudgetIsKept) {
  const Graph graph = scattered(at_most(100000, 30000));
  const std::uint64_t budget =
      graph.edges() * sizeof(Vertex) / 3 + (graph.vertices() + 1) * sizeof(EdgeIndex);
  const auto gpu = open_gpu(budget);
  REQUIRE_GPU(gpu);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph), parts(*gpu, graph);
  ASSERT_TRUE(parts.impl().paged);
  WalkDigest expected, digest;

  sampling::run_walks(whole, random_starts(at_most(5000, 300)), {}, &expected);
  sampling::run_walks(parts, random_starts(at_most(5000, 300)), {}, &digest);

  EXPECT_TRUE(digest == expected);
  EXPECT_LE(gpu->memory().peak(), budget);
}

}  // namespace
}  // namespace sluice::test
