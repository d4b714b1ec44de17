// Promise 2 out of core: partitions, slots and schedules change no bit of any walk.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "apps/bench/papers/out_of_order_grower.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/resident_impl.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "partition/build.hpp"
#include "samples/dynamic_samplers.hpp"
#include "sampling/jobs.hpp"
#include "sampling/out_of_order.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kInstances = unless_sanitized(400, 40);

/// Walks that can run in partitions: the wide layout needs the whole graph.
std::vector<Job> plain_walk_jobs() {
  std::vector<Job> jobs = walk_jobs(kInstances);
  std::erase_if(jobs, [](const Job& job) { return job.name.find("/wide") != std::string::npos; });
  return jobs;
}

struct Cell {
  std::uint64_t partitions, slots;
  Transport transport;
  SchedulePolicy schedule;
  unsigned threads;
  bool batching = true;
  Balance balance = Balance::automatic;
  bool out_of_order = false;

  PagingOptions paging() const {
    return {.partitions = partitions,
            .slots = slots,
            .transport = transport,
            .schedule = schedule,
            .batching = batching,
            .balance = balance};
  }
  RunSamples* run_samples() const {
    return out_of_order ? run_out_of_order_if_possible : sampling::run_samples;
  }
};

constexpr const char* kTransports[] = {"auto_", "copied_", "mapped_", "file_"};
constexpr const char* kBalances[] = {"", "_balanced", "_equal_shares"};

std::string name_of(const testing::TestParamInfo<Cell>& cell) {
  return std::to_string(cell.param.partitions) + "_partitions_" + std::to_string(cell.param.slots) +
         "_slots_" + kTransports[static_cast<int>(cell.param.transport)] +
         (cell.param.schedule == SchedulePolicy::fifo ? "fifo" : "workload") +
         kBalances[static_cast<int>(cell.param.balance)] + (cell.param.batching ? "" : "_one_by_one") +
         (cell.param.out_of_order ? "_out_of_order" : "");
}

class Paging : public testing::TestWithParam<Cell> {};

TEST_P(Paging, WalksAreThoseOfTheWholeGraph) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, GetParam().threads, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, GetParam().paging());

  for (const Job& job : plain_walk_jobs()) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

TEST_P(Paging, WalksOverCodedListsAreThoseOfTheWholeGraph) {
  // A directed graph answers a question about two vertices at one of them, an undirected graph at either.
  for (const bool directed : {true, false}) {
    const Graph graph = directed ? scattered(3000) : rmat(9, true, 8);
    ASSERT_EQ(graph.directed, directed);
    Device device({DeviceChoice::host, GetParam().threads, 0});
    ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, GetParam().paging());

    for (const auto& [plain, coded] : coded_walk_jobs(kInstances)) {
      const Outcome expected = plain.run(whole);

      EXPECT_GT(expected.count(), 0u) << plain.name;
      EXPECT_TRUE(coded.run(parts) == expected) << coded.name << (directed ? "" : ", undirected");
    }
  }
}

TEST_P(Paging, SamplesOverCodedListsAreThoseOfTheWholeGraph) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, GetParam().threads, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, GetParam().paging());

  for (const auto& [plain, coded] :
       coded_sample_jobs(kInstances, graph.vertices(), GetParam().run_samples())) {
    const Outcome expected = plain.run(whole);

    EXPECT_GT(expected.count(), 0u) << plain.name;
    EXPECT_TRUE(coded.run(parts) == expected) << coded.name;
  }
}

TEST_P(Paging, SamplesAreThoseOfTheWholeGraph) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, GetParam().threads, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, GetParam().paging());

  for (const Job& job : sample_jobs(kInstances, graph.vertices(), GetParam().run_samples())) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

using enum SchedulePolicy;
using enum Transport;
INSTANTIATE_TEST_SUITE_P(Cells, Paging,
                         testing::Values(Cell{2, 2, copied, workload, 1}, Cell{7, 2, copied, workload, 2},
                                         Cell{7, 3, copied, fifo, 3, true, Balance::on},
                                         Cell{64, 2, copied, fifo, 1},
                                         Cell{64, 20, copied, workload, 2, false, Balance::automatic},
                                         Cell{7, 2, mapped, workload, 3, false, Balance::off},
                                         Cell{64, 2, automatic, workload, 2},
                                         Cell{7, 2, copied, workload, 3, true, Balance::automatic, true},
                                         Cell{64, 3, automatic, fifo, 2, false, Balance::on, true}),
                         name_of);

TEST(Paging, CountsWhatIsBrought) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 2, 0});
  PagingOptions paging;
  paging.partitions = 7, paging.slots = 2, paging.transport = Transport::copied;
  ResidentGraph whole(device, graph), parts(device, graph, paging);
  walks::Options options;
  options.length = 10;

  const RunStats stats = sampling::run_walks(parts, random_starts(1000), options, nullptr);

  EXPECT_EQ(stats.steps, sampling::run_walks(whole, random_starts(1000), options, nullptr).steps);
  EXPECT_EQ(stats.partitions, 7u);
  EXPECT_GT(stats.partition_transfers, 7u);
  EXPECT_GE(stats.host_to_device_bytes, graph.edges() * sizeof(Vertex));
}

TEST(Paging, TimesPartitionsThatShareTheDevice) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 4, 0});
  samples::Options sample;
  sample.fanout = {4, 4};
  for (const Balance balance : {Balance::automatic, Balance::off, Balance::on}) {
    ResidentGraph parts(device, graph,
                        {.partitions = 4, .slots = 2, .transport = Transport::copied, .balance = balance});

    const RunStats walks = sampling::run_walks(parts, random_starts(1000), {}, nullptr);
    const RunStats samples = sampling::run_samples(parts, random_starts(1000), sample, nullptr);

    EXPECT_EQ(walks.kernels.rounds > 0, balance != Balance::automatic);
    EXPECT_EQ(samples.kernels.rounds, balance == Balance::automatic ? 0u : 4u)
        << "two depths, two pairs each";
    EXPECT_EQ(samples.kernels.mean_seconds > 0, balance != Balance::automatic);
  }
}

TEST(Paging, ListsAreCodedOnlyWhereTheyCanBe) {
  Graph graph = scattered(300);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph whole(device, graph, {.partitions = 1});
  walks::Options options;
  options.layout = Layout::coded;
  EXPECT_THROW(sampling::run_walks(whole, random_starts(5), options, nullptr), UsageError);

  ResidentGraph parts(device, graph, {.partitions = 3});
  options.kind = walks::Kind::biased;
  EXPECT_EQ(sampling::run_walks(parts, random_starts(5), options, nullptr).layout, Layout::coded);
  options.select = Select::its;
  EXPECT_THROW(sampling::run_walks(parts, random_starts(5), options, nullptr), UsageError);

  const auto sample = [&](ResidentGraph& on, const samples::Options& of) {
    return sampling::run_samples(on, random_starts(5), of, nullptr);
  };
  samples::Options uniform;
  uniform.fanout = {3}, uniform.layout = Layout::coded;
  samples::Options biased = uniform;
  biased.bias = Bias::degree;
  EXPECT_EQ(sample(parts, uniform).layout, Layout::coded);
  EXPECT_THROW(sample(whole, uniform), UsageError);
  EXPECT_THROW(sample(parts, biased), UsageError);

  const auto list =
      std::find_if(graph.out.offsets.begin(), graph.out.offsets.end(), [&](const EdgeIndex& at) {
        return (&at)[1] - at > 1 && graph.out.targets[at] != graph.out.targets[at + 1];
      });
  std::swap(graph.out.targets[*list], graph.out.targets[*list + 1]);
  ResidentGraph unsorted(device, graph, {.partitions = 3});
  options.kind = walks::Kind::uniform;
  EXPECT_THROW(sampling::run_walks(unsorted, random_starts(5), options, nullptr), UsageError);
  EXPECT_THROW(sample(unsorted, uniform), UsageError);
}

TEST(Paging, SamplesStayWithinTheBudget) {
  const Graph graph = scattered(20000);
  const std::uint64_t quarter = graph.edges() * sizeof(Vertex) / 4;
  Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, quarter});
  ResidentGraph whole(ample, graph), parts(tight, graph, {.transport = Transport::copied});
  for (const samples::Kind kind :
       {samples::Kind::neighbor, samples::Kind::forest_fire, samples::Kind::snowball}) {
    samples::Options options;
    options.kind = kind, options.fanout = {15, 10}, options.depth = kind == samples::Kind::snowball ? 1 : 3;
    SampleDigest expected, digest;

    sampling::run_samples(whole, random_starts(1000), options, &expected);
    const RunStats stats = sampling::run_samples(parts, random_starts(1000), options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_GT(stats.partitions, 4u);
    EXPECT_LE(tight.memory().peak(), quarter);
  }
}

TEST(Paging, SamplesThatDoNotFitSayWhatTheyNeed) {
  const Graph graph = scattered(20000);
  Device device({DeviceChoice::host, 2, graph.edges() / 2});
  ResidentGraph parts(device, graph, {.transport = Transport::copied});
  samples::Options options;
  options.kind = samples::Kind::snowball, options.depth = 6;

  EXPECT_THROW(sampling::run_samples(parts, random_starts(20), options, nullptr), BudgetError);
}

TEST(Paging, SamplersOfAUsersOwn) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = 7, .slots = 2});
  const auto expect_same = [&](const auto& sampler, bool revisit) {
    samples::Options options;
    options.revisit = revisit;
    const Starts starts = seed_lists(300, graph.vertices());
    SampleDigest expected, digest, apart;
    samples::run_sample(whole, starts, sampler, options, &expected);
    samples::run_sample(parts, starts, sampler, options, &digest);
    EXPECT_GT(expected.edge.count(), 0u);
    EXPECT_TRUE(digest == expected);
    if (!revisit) return;
    samples::run_sample<bench::papers::OutOfOrderGrower>(parts, starts, sampler, options, &apart);
    EXPECT_TRUE(apart == expected) << "out of order";
  };

  expect_same(Remembering<false, false>{}, false);
  expect_same(Remembering<false, true, true, true>{}, true);
  expect_same(Remembering<true, true, true>{}, true);
  expect_same(Remembering<true, true, true, true>{}, false);
  expect_same(Picky{}, false);
  expect_same(Picky{}, true);
}

TEST(Paging, OutOfOrderIsForTreeSemantics) {
  const Graph graph = scattered(300);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph parts(device, graph, {.partitions = 3});
  samples::Options options;
  options.fanout = {2, 2};
  EXPECT_THROW(bench::papers::run_out_of_order(parts, random_starts(5), options, nullptr), UsageError);
  options.kind = samples::Kind::snowball, options.revisit = true;
  EXPECT_THROW(bench::papers::run_out_of_order(parts, random_starts(5), options, nullptr), UsageError);
}

/// Returns the statistics of the walks on `parts`.
RunStats expect_same_walks(ResidentGraph& whole, ResidentGraph& parts, const Starts& starts,
                           const walks::Options& options) {
  WalkDigest expected, digest;
  sampling::run_walks(whole, starts, options, &expected);
  const RunStats stats = sampling::run_walks(parts, starts, options, &digest);
  EXPECT_TRUE(digest == expected);
  return stats;
}

TEST(Paging, StaysWithinTheBudget) {
  const Graph graph = scattered(20000);
  const std::uint64_t quarter = graph.edges() * sizeof(Vertex) / 4;
  Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, quarter});
  ResidentGraph whole(ample, graph), parts(tight, graph, {.transport = Transport::copied});
  ASSERT_TRUE(parts.impl().paged);
  walks::Options options;
  options.length = 30;

  const RunStats stats = expect_same_walks(whole, parts, random_starts(5000), options);

  EXPECT_GT(stats.partitions, 4u);
  // The budget refuses more; the test is that at least half of it is used.
  EXPECT_GT(tight.memory().peak(), quarter / 2);
}

/// The last batch is not full: nothing behind the list is read (sanitizers check).
TEST(Paging, StartsOfAListEndInALaterBatch) {
  const Graph graph = scattered(2000);
  Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, 1u << 20});
  ResidentGraph whole(ample, graph), parts(tight, graph, {.partitions = 4, .slots = 2});
  Starts starts;
  starts.mode = Starts::Mode::listed;
  for (std::uint64_t i = 0; i < 20001; ++i)
    starts.vertices.push_back(static_cast<Vertex>(i * 7919 % graph.vertices()));
  walks::Options options;
  options.length = 80;

  const RunStats stats = expect_same_walks(whole, parts, starts, options);

  EXPECT_GT(stats.batches, 1u);
}

TEST(Paging, OnlyTheLongListHasALargeSlot) {
  constexpr std::uint64_t kVertices = 2000, kLong = 100000, kShort = 10;
  std::vector<Vertex> source, target;
  for (std::uint64_t i = 0; i < kLong + (kVertices - 1) * kShort; ++i) {
    source.push_back(static_cast<Vertex>(i < kLong ? 0 : 1 + (i - kLong) / kShort));
    target.push_back(static_cast<Vertex>(i * 7919 % kVertices));
  }
  Graph graph;
  graph.out = build_csr(kVertices, source, target);
  constexpr std::uint64_t kCeiling = kLong * sizeof(Vertex) / 2 * 3;  // two slots of this size would not fit
  Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, kCeiling});
  ResidentGraph whole(ample, graph), parts(tight, graph, {.transport = Transport::copied});
  for (const Select select : {Select::automatic, Select::its}) {  // its: two lists at once
    walks::Options options;
    options.kind = walks::Kind::node2vec, options.length = 20, options.select = select;
    options.p = 0.5, options.q = 2;

    const RunStats stats = expect_same_walks(whole, parts, random_starts(100), options);

    EXPECT_GE(stats.partitions, 2u);
  }
}

TEST(Paging, FollowsFromTheCeilingAlone) {
  const Graph graph = scattered(20000);
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + sizeof(float));
  Device ample({DeviceChoice::host, 2, 0}), exact({DeviceChoice::host, 2, edges}),
      tight({DeviceChoice::host, 2, edges / 4});
  ResidentGraph whole(ample, graph), fits(exact, graph), parts(tight, graph),
      kept(tight, graph, {.partitions = 1});
  EXPECT_FALSE(whole.impl().paged);
  EXPECT_FALSE(fits.impl().paged);
  ASSERT_TRUE(parts.impl().paged);
  EXPECT_FALSE(kept.impl().paged);
  walks::Options options;
  options.length = 30;

  const RunStats stats = expect_same_walks(whole, parts, random_starts(5000), options);

  EXPECT_GT(stats.partitions, 4u);
  EXPECT_LE(tight.memory().peak(), edges / 4);
}

/// Compares these jobs on a graph whose edges are in its file with the whole graph.
void expect_same_from_a_file(const Graph& graph, const std::vector<Job>& jobs) {
  const TemporaryFolder folder;
  const std::string file = folder / "graph.h5";
  io::write_graph(file, graph, false);
  const Graph frame = io::open_graph(file);
  ASSERT_TRUE(frame.out.targets.empty());
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, frame, {.partitions = 7, .slots = 2});
  for (const Job& job : jobs) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

TEST(Paging, WalksFromAFile) {
  expect_same_from_a_file(scattered(3000), plain_walk_jobs());
}

TEST(Paging, SamplesFromAFile) {
  const Graph graph = scattered(3000);
  expect_same_from_a_file(graph, sample_jobs(kInstances, graph.vertices()));
}

TEST(Paging, AGraphInMemoryHasNoFile) {
  const Graph graph = scattered(300);
  Device device({DeviceChoice::host, 1, 0});

  EXPECT_THROW(ResidentGraph(device, graph, {.transport = Transport::file}), UsageError);
}

}  // namespace
}  // namespace sluice::test
