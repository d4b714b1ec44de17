// Walks that are sent between ranks with GPUs equal those of one process on the host, bit for bit.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "engine/batch/starts_upload.hpp"
#include "engine/memory/slots.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/sampling/run.hpp"
#include "engine/walks/kinds/biased.hpp"
#include "engine/walks/kinds/jump.hpp"
#include "engine/walks/kinds/node2vec.hpp"
#include "engine/walks/kinds/uniform.hpp"
#include "engine/walks/queue/queued_walks.hpp"
#include "engine/walks/queue/steps_cuda.cuh"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"
#include "sampling/jobs.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

/// Share `rank` of `size` of the instances.
walks::Options share_of(walks::Options options, Instance instances, Instance rank, Instance size) {
  options.length = 20, options.seed = 5;
  options.first_instance = instances * rank / size, options.last_instance = instances * (rank + 1) / size;
  return options;
}

/// The walks and the statistics of one rank.
struct Share {
  WalkDigest walks;
  RunStats stats;
};

/// Runs walks of `sampler` on ranks that each start a share of them; `with_set`: with an edge set. Each rank
/// has its own copy of the graph, since memory cannot be page-locked twice.
template <class Program, class Sampler>
std::vector<Share> on_ranks(int size, const std::function<Graph()>& make, const Sampler& sampler,
                            const Starts& starts, const walks::Options& walk, bool with_set) {
  std::vector<Share> all(static_cast<std::size_t>(size));
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    Device gpu({DeviceChoice::cuda, 1, 1u << 30});
    ThreadCommunicator ranks(rank, meeting);
    const Graph graph = make();
    ResidentGraph resident(gpu, graph, {.partitions = 7, .shard = &ranks});
    auto& impl = resident.impl();
    const walks::Options options =
        share_of(walk, starts.count, static_cast<Instance>(rank), static_cast<Instance>(size));
    const Instance begin = options.first_instance, end = options.last_instance;
    const Program program{impl.view, sampler, {}, nullptr, options.seed};
    PageRequest pages(impl);
    if constexpr (std::same_as<decltype(Program::table), WideAliasTable>) {
      request_wide_alias(impl, sampler, pages);
      pages.columns.weights = Program::kScans;
    }
    const DeviceStarts from(impl, starts, options.seed);
    Share& own = all[static_cast<std::size_t>(rank)];
    auto plan = walks::plan_resident_shard(ranks, gpu, graph, impl.paging, pages.columns, 500, end - begin,
                                           true, walks::kSlotLookUp, with_set);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->edge_set.size > 0, with_set);
    plan->batch = (plan->batch + 1) / 2;  // so that there are two batches
    ThreadDeviceRanks link(rank, meeting);
    walks::ProgramJob<Program, walks::ProgramQueue<walks::cuda::QueueBackend, Program>> job(program);
    const walks::QueuedRun run{{impl, starts, options, &own.walks, own.stats}, job, pages, from.view()};
    const auto mode = job.steppable() ? walks::WalkMode::stepped : walks::WalkMode::resident;
    walks::WalksInQueues(run, *std::move(plan), &link, mode).run_all({begin, end}, &own.walks);
  });
  return all;
}

/// Compares each rank's share with the same share in one process.
template <class Program, class Sampler>
void expect_same(int size, const std::function<Graph()>& make, const Sampler& sampler,
                 const walks::Options& walk, bool with_set = false) {
  const Graph graph = make();
  const Starts starts = random_starts(3 * graph.vertices() + 1);
  Device host({DeviceChoice::host, 1, 0});
  ResidentGraph whole(host, graph);

  const auto all = on_ranks<Program>(size, make, sampler, starts, walk, with_set);

  std::uint64_t sent = 0, received = 0;
  for (Instance r = 0; r < all.size(); ++r) {
    WalkDigest expected;
    sampling::run_walks(whole, starts, share_of(walk, starts.count, r, all.size()), &expected);
    EXPECT_TRUE(all[r].walks == expected) << "rank " << r << " of " << size;
    sent += all[r].stats.entries_sent, received += all[r].stats.entries_received;
    EXPECT_EQ(all[r].stats.batches, 2u);
  }
  EXPECT_GT(sent, 0u);
  EXPECT_EQ(sent, received);
}

TEST(GpuShard, UniformWalksAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::UniformWalk, IndexTable<CsrEdges>, walks::Acceptance::always>;
  static_assert(walks::ProgramQueue<walks::cuda::QueueBackend, Program>::kSteppable);
  const auto graph = [] { return scattered(at_most(3000, 300)); };
  for (const int size : {2, 3}) expect_same<Program>(size, graph, walks::UniformWalk{}, {});
}

/// Walks end long before their last step; rows of the second batch reuse the memory of the first.
TEST(GpuShard, WalksThatEndEarlyAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::UniformWalk, IndexTable<CsrEdges>, walks::Acceptance::always>;
  const auto graph = [] {
    std::vector<stat::Edge> path;
    for (Vertex v = 0; v + 1 < 12; ++v) path.push_back({v, v + 1});
    return stat::make_graph(12, path, false);
  };
  for (const int size : {2, 3}) expect_same<Program>(size, graph, walks::UniformWalk{}, {});
}

/// The hooks of jumps read the walk's previous vertex.
TEST(GpuShard, JumpsAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::JumpWalk, IndexTable<CsrEdges>, walks::Acceptance::always>;
  static_assert(walks::ProgramQueue<walks::cuda::QueueBackend, Program>::kSteppable);
  const auto graph = [] { return scattered(at_most(3000, 300)); };
  walks::Options walk;
  walk.kind = walks::Kind::jump, walk.probability = 0.3;
  for (const int size : {2, 3})
    expect_same<Program>(size, graph, walks::JumpWalk{Probability::of(walk.probability)}, walk);
}

/// Without weights, proposals are indices; questions are sent to owners, and scans need lists of two ranks.
TEST(GpuShard, Node2vecWalksAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::Node2vecWalk, IndexTable<CsrEdges>, walks::Acceptance::dynamic>;
  const auto graph = [] {
    Graph unweighted = scattered(at_most(300, 60));
    unweighted.weighted = false, unweighted.out.weights = {};
    return unweighted;
  };
  walks::Options walk;
  walk.kind = walks::Kind::node2vec, walk.q = 3;
  for (const double p : {0.5, 0.002}) {
    walk.p = p;
    for (const bool with_set : {false, true})
      expect_same<Program>(2, graph, walks::Node2vecWalk(walk.p, walk.q), walk, with_set);
  }
}

/// Alias slots hold targets, and are built on the rank that receives the partition.
TEST(GpuShard, WalksByWeightAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::BiasedWalk, WideAliasTable, walks::Acceptance::always>;
  const auto graph = [] { return scattered(at_most(3000, 300)); };
  walks::Options walk;
  walk.kind = walks::Kind::biased;
  for (const int size : {2, 3}) expect_same<Program>(size, graph, walks::BiasedWalk{{Bias::weight}}, walk);
}

TEST(GpuShard, Node2vecWalksByWeightAreThoseOfTheHost) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  using Program = walks::WalkProgram<walks::Node2vecWalk, WideAliasTable, walks::Acceptance::dynamic>;
  const auto graph = [] { return scattered(at_most(300, 60)); };
  walks::Options walk;
  walk.kind = walks::Kind::node2vec, walk.q = 3;
  for (const double p : {0.5, 0.002}) {
    walk.p = p;
    expect_same<Program>(2, graph, walks::Node2vecWalk(walk.p, walk.q), walk, true);
  }
}

}  // namespace
}  // namespace sluice::test
