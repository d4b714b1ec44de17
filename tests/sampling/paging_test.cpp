// Promise 2 out of core: partitions, slots and schedules change no bit of any walk.
#include <gtest/gtest.h>

#include "engine/residency/resident_graph.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kInstances = 400;

/// Walks that may run in partitions: the wide layout wants the whole graph.
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
};

constexpr const char* kTransports[] = {"auto_", "copied_", "mapped_", "file_"};

std::string name_of(const testing::TestParamInfo<Cell>& cell) {
  return std::to_string(cell.param.partitions) + "_partitions_" + std::to_string(cell.param.slots) +
         "_slots_" + kTransports[static_cast<int>(cell.param.transport)] +
         (cell.param.schedule == SchedulePolicy::fifo ? "fifo" : "workload");
}

class Paging : public testing::TestWithParam<Cell> {};

TEST_P(Paging, WalksAreThoseOfTheWholeGraph) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, GetParam().threads, 0});
  PagingOptions paging;
  paging.partitions = GetParam().partitions;
  paging.slots = GetParam().slots;
  paging.transport = GetParam().transport;
  paging.schedule = GetParam().schedule;
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, paging);

  for (const Job& job : plain_walk_jobs()) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

using enum SchedulePolicy;
using enum Transport;
INSTANTIATE_TEST_SUITE_P(Cells, Paging,
                         testing::Values(Cell{2, 2, copied, workload, 1}, Cell{7, 2, copied, workload, 2},
                                         Cell{7, 3, copied, fifo, 2}, Cell{64, 2, copied, fifo, 1},
                                         Cell{64, 20, copied, workload, 2}, Cell{7, 2, mapped, workload, 2},
                                         Cell{64, 2, automatic, workload, 2}),
                         name_of);

TEST(Paging, CountsWhatIsBrought) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 2, 0});
  PagingOptions paging;
  paging.partitions = 7, paging.slots = 2, paging.transport = Transport::copied;
  ResidentGraph whole(device, graph), parts(device, graph, paging);
  WalkOptions options;
  options.length = 10;

  const RunStats stats = run_walks(parts, random_starts(1000), options, nullptr);

  EXPECT_EQ(stats.steps, run_walks(whole, random_starts(1000), options, nullptr).steps);
  EXPECT_EQ(stats.partitions, 7u);
  EXPECT_GT(stats.partition_transfers, 7u);
  EXPECT_GE(stats.host_to_device_bytes, graph.edges() * sizeof(Vertex));
}

TEST(Paging, StaysWithinTheBudget) {
  const Graph graph = scattered(20000);
  const std::uint64_t quarter = graph.edges() * sizeof(Vertex) / 4;
  Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, quarter});
  ResidentGraph whole(ample, graph), parts(tight, graph, {.transport = Transport::copied});
  ASSERT_TRUE(parts.impl().paged);
  WalkOptions options;
  options.length = 30;
  WalkDigest expected, digest;

  run_walks(whole, random_starts(5000), options, &expected);
  const RunStats stats = run_walks(parts, random_starts(5000), options, &digest);

  EXPECT_TRUE(digest == expected);
  EXPECT_GT(stats.partitions, 4u);
  EXPECT_LE(tight.memory().peak(), quarter);
}

TEST(Paging, WalksFromAFile) {
  const Graph graph = scattered(3000);
  const TemporaryFolder folder;
  const std::string file = folder.file("graph.h5");
  io::write_graph(file, graph, false);
  const Graph frame = io::open_graph(file);
  ASSERT_TRUE(frame.out.targets.empty());
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, frame, {.partitions = 7, .slots = 2});

  for (const Job& job : plain_walk_jobs()) {
    if (job.name == "multidimensional") continue;
    EXPECT_TRUE(job.run(parts) == job.run(whole)) << job.name;
  }
}

}  // namespace
}  // namespace sluice::test
