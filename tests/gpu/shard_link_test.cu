// Node samples and pools that ranks exchange from GPU to GPU equal those of one process on the host, bit for
// bit. A link within one GPU stands for NCCL, which does not allow ranks that share a GPU.
#include <gtest/gtest.h>

#include "engine/samples/kinds/multidimensional.hpp"
#include "engine/samples/one_pass/partitioned_node.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/partitioned/partitioned_samples.hpp"
#include "engine/samples/pool/pool.hpp"
#include "engine/sampling/run.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"

namespace sluice::test {
namespace {

/// A rank's share of the instances; the last rank has none, and only serves the others.
InstanceRange share_of(Instance instances, int rank) {
  const Instance half = instances / 2;
  return {half * static_cast<Instance>(rank), rank == 2 ? half * 2 : half * static_cast<Instance>(rank + 1)};
}

/// All ranks send and receive the same number of entries, more than 0, and from GPU to GPU.
void expect_crossed(ResidentGraph::Impl& graph, const RunStats& stats, const DeviceRanks& link) {
  std::uint64_t crossed[] = {stats.entries_sent, stats.entries_received, link.bytes_sent()};
  graph.paging.shard->all_reduce(crossed, Reduce::sum, "entries");
  EXPECT_GT(crossed[0], 0u);
  EXPECT_EQ(crossed[0], crossed[1]);
  EXPECT_GE(crossed[2], crossed[0] * sizeof(Vertex));
}

void expect_same_nodes(std::uint64_t drawn, Instance instances) {
  const Graph graph = scattered(brief() ? 300 : 3000);
  samples::Options options;
  options.kind = samples::Kind::node, options.count = drawn, options.seed = 7;
  on_ranks(
      3, graph, {.partitions = 7, .slots = 3}, 1u << 30,
      [&](int rank, Meeting& meeting, ResidentGraph& shared) {
        Device host({DeviceChoice::host, 1, 0});
        ResidentGraph whole(host, graph);
        const InstanceRange share = share_of(instances, rank);
        samples::Options own_options = options;
        own_options.first_instance = share.begin, own_options.last_instance = share.end;
        SampleDigest expected, digest;
        if (rank != 2) sampling::run_samples(whole, random_starts(instances), own_options, &expected);
        auto& impl = shared.impl();
        const samples::OnePassProgram program{impl.view, options.seed, drawn, graph.vertices(),
                                              set_capacity(drawn)};
        ThreadDeviceRanks link(rank, meeting);
        RunStats stats;

        samples::run_partitioned_samples<samples::PagedNodeGrower<samples::PagedItems<cuda::CudaExecutor>>>(
            InstanceRun(impl, random_starts(instances), own_options, &digest, stats),
            samples::PagedSetup{impl, program, stats, &link}, PageRequest(impl), 4096, 1);

        EXPECT_EQ(digest.count() > 0, rank != 2);
        EXPECT_TRUE(digest == expected) << "rank " << rank;
        expect_crossed(impl, stats, link);
      });
}

TEST(GpuShardLink, EdgesBetweenDrawnVerticesReachTheirOrigins) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same_nodes(at_most(200, 40), at_most(300, 30));
  expect_same_nodes(at_most(1500, 150), at_most(20, 4));
}

/// Results are written to the file in several pieces.
TEST(GpuShardLink, ManySmallNodeSamples) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_same_nodes(20, at_most(40000, 200));
}

TEST(GpuShardLink, PoolsAskOtherGpus) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Pools = samples::PoolJob<samples::MultidimensionalWalk>;
  const Graph graph = scattered(brief() ? 300 : 3000);
  const Instance instances = at_most(2000, 40);
  walks::Options options;
  options.kind = walks::Kind::multidimensional, options.seed = 7;
  options.frontier_size = 12, options.length = static_cast<std::uint32_t>(at_most(40, 8));
  const Starts starts = random_starts(instances);
  on_ranks(3, graph, {.partitions = 7, .slots = 3}, 1u << 30,
           [&](int rank, Meeting& meeting, ResidentGraph& shared) {
             Device host({DeviceChoice::host, 1, 0});
             ResidentGraph whole(host, graph);
             const InstanceRange share = share_of(instances, rank);
             walks::Options own_options = options;
             own_options.first_instance = share.begin, own_options.last_instance = share.end;
             WalkDigest expected, digest;
             if (rank != 2) sampling::run_walks(whole, starts, own_options, &expected);
             auto& impl = shared.impl();
             const DeviceStarts from(impl, starts, options.seed, options.frontier_size);
             const PageRequest pages(impl);
             RunStats stats;
             const Pools job{{impl, starts, own_options, &digest, stats},
                             {impl.view, samples::MultidimensionalWalk{options.frontier_size}, from.view(),
                              options.seed, options.length, options.frontier_size},
                             &pages};
             ThreadDeviceRanks link(rank, meeting);

             samples::PagedPools<Pools, cuda::CudaExecutor>(job, job.share_memory(), &link).run();

             EXPECT_EQ(digest.count() > 0, rank != 2);
             EXPECT_TRUE(digest == expected) << "rank " << rank;
             expect_crossed(impl, stats, link);
           });
}

}  // namespace
}  // namespace sluice::test
