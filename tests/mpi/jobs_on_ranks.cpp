// The part of each rank in shard_test.cpp, which starts this program on several ranks. Every job runs on a
// graph that the ranks share out, and on the whole graph.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/exchange/router.hpp"
#include "samples/dynamic_samplers.hpp"
#include "samples/layer_samplers.hpp"
#include "samples/pool_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

class JobsOnRanks : public testing::Test {
 protected:
  static Communicator& ranks() {
    static const auto all = make_mpi();
    return *all;
  }

  /// Every rank runs all instances of a job, and expands the entries that the others send.
  static void expect_same(const std::vector<Job>& jobs, ResidentGraph& whole, ResidentGraph& shared) {
    for (const Job& job : jobs) {
      if (job.name.find("/wide") != std::string::npos) continue;
      const Outcome expected = job.run(whole);
      EXPECT_GT(expected.count(), 0u) << job.name;
      EXPECT_TRUE(job.run(shared) == expected) << job.name;
    }
  }
};

constexpr std::uint64_t kInstances = 60;

TEST_F(JobsOnRanks, EveryTechnique) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), shared(device, graph, {.partitions = 7, .slots = 2, .shard = &ranks()});
  ASSERT_TRUE(shared.impl().paged);

  ResidentGraph held(device, graph, {.partitions = 7, .shard = &ranks()});
  expect_same(walk_jobs(kInstances), whole, held);
  expect_same(walk_jobs(kInstances), whole, shared);
  expect_same(sample_jobs(kInstances, graph.vertices()), whole, shared);
}

TEST_F(JobsOnRanks, SamplersOfAUsersOwn) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph),
      shared(device, graph, {.partitions = 16, .slots = 3, .shard = &ranks()});
  const auto expect_same_samples = [&](const auto& sampler, bool revisit) {
    samples::Options options;
    options.revisit = revisit;
    SampleDigest expected, digest;
    samples::run_sample(whole, seed_lists(kInstances, graph.vertices()), sampler, options, &expected);
    samples::run_sample(shared, seed_lists(kInstances, graph.vertices()), sampler, options, &digest);
    EXPECT_GT(expected.edge.count(), 0u);
    EXPECT_TRUE(digest == expected);
  };

  expect_same_samples(Remembering<false, false>{}, false);
  expect_same_samples(Remembering<false, true, true, true>{}, true);
  expect_same_samples(Remembering<true, true, true>{}, true);
  expect_same_samples(Remembering<true, true, true, true>{}, false);
  expect_same_samples(Picky{}, false);
}

TEST_F(JobsOnRanks, LayersOfAUsersOwn) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph),
      shared(device, graph, {.partitions = 16, .slots = 3, .shard = &ranks()});
  const auto expect_same_layers = [&](const auto& sampler) {
    SampleDigest expected, digest;
    samples::run_layer(whole, seed_lists(kInstances, graph.vertices()), sampler, {}, &expected);
    samples::run_layer(shared, seed_lists(kInstances, graph.vertices()), sampler, {}, &digest);
    EXPECT_GT(expected.edge.count(), 0u);
    EXPECT_TRUE(digest == expected);
  };

  expect_same_layers(PickyLayers{});
  expect_same_layers(ThriftyLayers{});
  expect_same_layers(SparePlainLayers{});
}

TEST_F(JobsOnRanks, PoolsOfAUsersOwn) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph),
      shared(device, graph, {.partitions = 16, .slots = 3, .shard = &ranks()});
  const auto expect_same_pools = [&](const auto& sampler) {
    WalkDigest expected, digest;
    samples::run_pool(whole, random_starts(kInstances), sampler, 20, walks::Options{}, &expected);
    samples::run_pool(shared, random_starts(kInstances), sampler, 20, walks::Options{}, &digest);
    EXPECT_GT(expected.count(), 0u);
    EXPECT_TRUE(digest == expected);
  };

  expect_same_pools(TwoByTwo{});
  expect_same_pools(TwoDistinct{});
  expect_same_pools(FiveOfOne{});
  expect_same_pools(PickyPool{});
}

/// Some ranks own no list, and some partitions are a single list.
TEST_F(JobsOnRanks, RanksThatOwnNothing) {
  const Graph graph = scattered(5);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph), shared(device, graph, {.partitions = 2, .shard = &ranks()});
  samples::Options node, layer;
  node.kind = samples::Kind::node, node.count = 4;
  layer.kind = samples::Kind::layer, layer.layer_sizes = {3, 9}, layer.bias = Bias::weight;
  std::vector<Job> jobs{sample_job("node", random_starts(9), node)};
  for (const Select select : {Select::automatic, Select::updated}) {
    layer.select = select;
    jobs.push_back(sample_job("layer", random_starts(9), layer));
  }

  expect_same(jobs, whole, shared);
}

/// Instances of ranks are so far apart that an entry cannot number all of them.
TEST_F(JobsOnRanks, InstancesFarApart) {
  constexpr Instance kShare = Instance{3} << 31;
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph), shared(device, graph, {.partitions = 7, .slots = 2, .shard = &ranks()});
  samples::Options options;
  options.fanout = {5, 4};
  options.first_instance = kShare * static_cast<Instance>(ranks().rank()) + 11;
  options.last_instance = options.first_instance + kInstances;
  SampleDigest expected, digest;

  sampling::run_samples(whole, random_starts(kShare << 3), options, &expected);
  sampling::run_samples(shared, random_starts(kShare << 3), options, &digest);

  EXPECT_GT(expected.edge.count(), 0u);
  EXPECT_TRUE(digest == expected);
}

/// Columns are sent through the hosts, in pieces shorter than the data between two ranks.
TEST_F(JobsOnRanks, ColumnsTravelInPieces) {
  const Device device({DeviceChoice::host, 1, 0});
  const auto me = static_cast<std::uint64_t>(ranks().rank()),
             size = static_cast<std::uint64_t>(ranks().size());
  const auto count = [](std::uint64_t from, std::uint64_t to) { return from == 1 ? 0 : 13 * from + 40 * to; };
  const auto value = [](std::uint64_t from, std::uint64_t to, std::uint64_t i) {
    return from << 40 | to << 20 | i;
  };
  std::vector<std::uint64_t> send, wide;
  std::vector<std::uint32_t> narrow;
  for (std::uint64_t to = 0; to < size; ++to) {
    send.push_back(count(me, to));
    for (std::uint64_t i = 0; i < send.back(); ++i) {
      wide.push_back(value(me, to, i));
      narrow.push_back(static_cast<std::uint32_t>(to << 16 | i));
    }
  }
  Router router(ranks(), device, nullptr, 100);

  const auto receive = router.exchange_counts(send, "counts");
  const std::uint64_t sum = std::accumulate(receive.begin(), receive.end(), std::uint64_t{0});
  std::vector<std::uint64_t> came_wide(sum);
  std::vector<std::uint32_t> came_narrow(sum);
  router.send(std::vector<RoutedColumn>{{wide.data(), came_wide.data(), sizeof(std::uint64_t)},
                                        {narrow.data(), came_narrow.data(), sizeof(std::uint32_t)}},
              send, receive, nullptr, "columns");

  std::uint64_t at = 0;
  for (std::uint64_t from = 0; from < size; ++from) {
    ASSERT_EQ(receive[from], count(from, me));
    for (std::uint64_t i = 0; i < receive[from]; ++i, ++at) {
      ASSERT_EQ(came_wide[at], value(from, me, i));
      ASSERT_EQ(came_narrow[at], me << 16 | i);
    }
  }
}

/// If a batch does not fit on one rank, all ranks grow it again.
TEST_F(JobsOnRanks, OneRankRunsOutOfMemory) {
  struct Case {
    int instances;
    std::uint64_t ceiling;
    samples::Options options;
  };
  samples::Options neighbor, node, layer;
  neighbor.fanout = {15, 10};
  node.kind = samples::Kind::node, node.count = 300;
  layer.kind = samples::Kind::layer, layer.layer_sizes = {60, 200}, layer.bias = Bias::degree;
  const std::vector<Case> cases{
      {16000, 40u << 20, neighbor}, {1000, 15u << 20, node}, {400, 12u << 20, layer}};
  const Graph graph = scattered(3000);
  Device ample({DeviceChoice::host, 1, 0});
  ResidentGraph whole(ample, graph);
  for (const auto& [instances, ceiling, asked] : cases) {
    SCOPED_TRACE(instances);
    Device device({DeviceChoice::host, 1, ceiling});
    ResidentGraph shared(device, graph, {.partitions = 7, .shard = &ranks()});
    samples::Options options = asked;
    SampleDigest expected, digest;
    sampling::run_samples(whole, random_starts(instances), options, &expected);
    const RunStats undisturbed = sampling::run_samples(shared, random_starts(instances), options, nullptr);
    // After the first batch, one rank has no free memory left.
    std::uint64_t taken = 0;
    options.progress = [&](Instance, Instance) {
      if (ranks().is_root() || taken > 0) return;
      taken = device.memory().available();
      device.memory().charge(taken, "something else");
    };

    const RunStats stats = sampling::run_samples(shared, random_starts(instances), options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_GT(stats.batches, 2u);
    // All partitions fit, so they are brought again only if a batch is grown again.
    EXPECT_GT(stats.partition_transfers, undisturbed.partition_transfers) << "no batch was grown again";
    EXPECT_LE(device.memory().peak(), ceiling);
    device.memory().release(taken);
  }
}

}  // namespace
}  // namespace sluice::test
