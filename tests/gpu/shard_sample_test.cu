// Samples on several GPUs: the rank that owns a list expands its entries. Samples equal those of one process
// on the host, bit for bit.
#include <gtest/gtest.h>

#include "engine/batch/starts_upload.hpp"
#include "engine/samples/kinds/neighbor.hpp"
#include "engine/samples/partitioned/levels_cuda.cuh"
#include "engine/samples/partitioned/partitioned_samples.hpp"
#include "engine/sampling/run.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"
#include "samples/dynamic_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

std::vector<Job> jobs_of_ranks(std::uint64_t instances, std::uint64_t vertices) {
  std::vector<Job> jobs = sample_jobs(instances, vertices);
  for (const Job& job : walk_jobs(instances)) {
    if (job.name == "multidimensional") jobs.push_back(job);
  }
  return jobs;
}

/// The number of ranks, the paging of the graph, and the jobs on it: every `stride`-th.
struct Cell {
  int ranks;
  PagingOptions paging;
  std::size_t stride;
};

/// Every rank runs all instances of every job, and exchanges through its host.
TEST(GpuShardSamples, EveryTechniqueGivesTheHosts) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(brief() ? 300 : 1000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph whole(host, graph);
  const std::vector<Job> jobs = jobs_of_ranks(at_most(60, 12), graph.vertices());
  std::vector<Outcome> expected;
  for (const Job& job : jobs) expected.push_back(job.run(whole));
  for (const Cell& cell :
       {Cell{2, {.partitions = 7, .slots = 2}, 1}, Cell{3, {.partitions = 16, .slots = 3}, 3},
        Cell{3, {.partitions = 7, .slots = 2, .batching = false}, 20}}) {
    const std::size_t stride = brief() ? std::max<std::size_t>(cell.stride, 40) : cell.stride;
    on_ranks(cell.ranks, graph, cell.paging, 1u << 30, [&](int rank, Meeting&, ResidentGraph& shared) {
      for (std::size_t i = jobs.size() % stride; i < jobs.size(); i += stride) {
        EXPECT_GT(expected[i].count(), 0u) << jobs[i].name;
        EXPECT_TRUE(jobs[i].run(shared) == expected[i])
            << jobs[i].name << ", rank " << rank << " of " << cell.ranks;
      }
    });
  }
}

/// Ranks read each other's lists in place, in the GPUs' memory. No entry and no walk is sent, and ranks may
/// have different instances, or none.
TEST(GpuShardSamples, ListsAreReadInOtherRanksMemory) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(brief() ? 300 : 1000);
  Device host({DeviceChoice::host, 2, 0});
  ResidentGraph whole(host, graph);
  const std::vector<Job> jobs = sample_jobs(at_most(60, 12), graph.vertices());
  std::vector<Outcome> expected;
  for (const Job& job : jobs) expected.push_back(job.run(whole));
  for (const int ranks : {2, 3}) {
    on_ranks(ranks, graph, {.transport = Transport::copied}, 1u << 30,
             [&](int rank, Meeting&, ResidentGraph& shared) {
               for (std::size_t i = 0; i < jobs.size(); i += brief() ? 40 : 1) {
                 EXPECT_GT(expected[i].count(), 0u) << jobs[i].name;
                 EXPECT_TRUE(jobs[i].run(shared) == expected[i])
                     << jobs[i].name << ", rank " << rank << " of " << ranks;
               }
               samples::Options options;
               options.fanout = {3, 2}, options.last_instance = rank == 0 ? 0 : 50;
               const RunStats stats = sampling::run_samples(shared, random_starts(100), options, nullptr);
               EXPECT_EQ(stats.entries_sent + stats.entries_received, 0u);
               EXPECT_EQ(stats.partition_transfers, 1u) << "its own part";
               EXPECT_EQ(stats.sampled_edges > 0, rank != 0);
             });
  }
}

/// One rank's instances of a job.
samples::Options share_of(samples::Options options, Instance first, Instance each, int rank) {
  options.first_instance = first * static_cast<Instance>(rank) + 11;
  options.last_instance = options.first_instance + each;
  return options;
}

/// `step`: the distance between the first instances of consecutive ranks.
void expect_shares(const samples::Options& options, Instance step, Instance each, std::uint64_t memory) {
  const Graph graph = scattered(brief() ? 300 : 3000);
  const Starts starts = random_starts(step * 4);
  on_ranks(3, graph, {.partitions = 7}, memory, [&](int rank, Meeting&, ResidentGraph& shared) {
    Device host({DeviceChoice::host, 1, 0});
    ResidentGraph whole(host, graph);
    const samples::Options own_options = share_of(options, step, rank == 2 ? 0 : each, rank);
    SampleDigest expected, digest;
    if (rank != 2) sampling::run_samples(whole, starts, own_options, &expected);
    const RunStats stats = sampling::run_samples(shared, starts, own_options, &digest);
    EXPECT_TRUE(digest == expected) << "rank " << rank;
    EXPECT_GT(stats.entries_received, 0u);
    std::uint64_t crossed[] = {stats.entries_sent, stats.entries_received};
    shared.impl().paging.shard->all_reduce(crossed, Reduce::sum, "entries");
    EXPECT_EQ(crossed[0], crossed[1]);
    EXPECT_LE(shared.impl().device.memory().peak(), memory);
  });
}

/// The last rank has no instances, and expands the entries that the others send.
TEST(GpuShardSamples, EachRankHasItsShare) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  samples::Options options;
  options.fanout = {15, 10}, options.bias = Bias::weight;
  expect_shares(options, 5000, at_most(3000, 50), 1u << 30);
  options.kind = samples::Kind::forest_fire, options.depth = 3, options.probability = 0.6;
  expect_shares(options, 5000, at_most(3000, 50), 1u << 30);
  options.kind = samples::Kind::layer, options.layer_sizes = {9, 30, 12};
  expect_shares(options, 5000, at_most(3000, 50), 1u << 30);
}

/// Blocks process layers and counts, and hubs that warps defer to them.
TEST(GpuShardSamples, InstancesTooLargeForAWarp) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = scattered(brief() ? 300 : 15000);
  Device host({DeviceChoice::host, usable_cores(), 0});
  ResidentGraph whole(host, graph);
  const std::vector<Job> jobs = watched(large_jobs(graph.vertices()), 2, 4);
  std::vector<Outcome> expected;
  for (const Job& job : jobs) expected.push_back(job.run(whole));
  on_ranks(3, graph, {.partitions = 7, .slots = 2}, 2u << 30, [&](int rank, Meeting&, ResidentGraph& shared) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_GT(expected[i].count(), 0u) << jobs[i].name;
      EXPECT_TRUE(jobs[i].run(shared) == expected[i]) << jobs[i].name << ", rank " << rank;
    }
  });
}

/// The instances of the ranks are so far apart that an entry cannot number all of them.
TEST(GpuShardSamples, SharesFarApart) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  samples::Options options;
  options.fanout = {5, 4};
  expect_shares(options, Instance{3} << 31, 100, 1u << 30);
  options.kind = samples::Kind::layer, options.layer_sizes = {5, 4};
  expect_shares(options, Instance{3} << 31, 100, 1u << 30);
}

/// All ranks give up batches that do not fit, and grow batches again.
TEST(GpuShardSamples, ASmallBudgetIsKept) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  samples::Options options;
  options.kind = samples::Kind::snowball, options.depth = 2;
  expect_shares(options, 5000, at_most(1500, 50), 24u << 20);
  options.kind = samples::Kind::layer, options.layer_sizes = {15, 40}, options.bias = Bias::weight;
  expect_shares(options, 5000, at_most(1500, 50), 24u << 20);
}

/// Entries are sent from GPU to GPU over a link within one GPU, where NCCL does not work.
template <class Sampler>
void expect_same_on_link(const Sampler& sampler, bool revisit) {
  using Program = samples::SampleProgram<Sampler>;
  const Graph graph = scattered(brief() ? 300 : 1000);
  const Instance instances = at_most(600, 60);
  const Starts starts = seed_lists(instances, graph.vertices());
  samples::Options options;
  options.revisit = revisit, options.seed = 7;
  on_ranks(
      3, graph, {.partitions = 7, .slots = 3}, 1u << 30,
      [&](int rank, Meeting& meeting, ResidentGraph& shared) {
        Device host({DeviceChoice::host, 1, 0});
        ResidentGraph whole(host, graph);
        const auto share = [&](int r) { return instances * static_cast<Instance>(r) / 3; };
        samples::Options own_options = options;
        own_options.first_instance = share(rank), own_options.last_instance = share(rank + 1);
        SampleDigest expected, digest;
        samples::run_sample(whole, starts, sampler, own_options, &expected);
        auto& impl = shared.impl();
        const DeviceStarts from(impl, starts, options.seed, 1, Repeats::dropped);
        Program program;
        program.graph = impl.view, program.sampler = sampler, program.seed = options.seed;
        program.select = sampler.replacement() ? Select::its : Select::bipartite;
        program.uniform = Sampler::kBias == BiasClass::uniform;
        PageRequest pages(impl);
        pages.columns.weights = true;
        ThreadDeviceRanks link(rank, meeting);
        RunStats stats;
        const samples::LevelSetup<Program> setup{
            {impl, program, stats, &link}, from.view(), revisit, false, true};

        samples::run_partitioned_samples<samples::LevelGrower<samples::cuda::Levels<Program, Partitioned>>>(
            InstanceRun(impl, starts, own_options, &digest, stats), setup, pages, 4096, sampler.depth());

        EXPECT_GT(expected.edge.count(), 0u);
        EXPECT_TRUE(digest == expected) << "rank " << rank;
      });
}

TEST(GpuShardSamples, FromGpuToGpu) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same_on_link(Picky{{.depths = 3, .fanout = 5}}, false);
  expect_same_on_link(Remembering<false, true, true, true>{3, 5}, true);
  expect_same_on_link(Remembering<true, false>{2, 40}, false);
}

}  // namespace
}  // namespace sluice::test
