// Promise 2 on one machine: threads, layouts, batches, collision structures and repetition change no bit.
#include <gtest/gtest.h>

#include <map>

#include "engine/memory/resident_impl.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "sampling/jobs.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kInstances = unless_sanitized(600, 60);

std::vector<Job> all_jobs(std::uint64_t vertices) {
  std::vector<Job> jobs = walk_jobs(kInstances);
  for (Job& job : sample_jobs(kInstances, vertices)) jobs.push_back(std::move(job));
  return jobs;
}

void expect_same_by_three_threads(const Graph& graph, const std::vector<Job>& jobs) {
  Device one({DeviceChoice::host, 1, 0}), three({DeviceChoice::host, 3, 0});
  ResidentGraph on_one(one, graph), on_three(three, graph);

  for (const Job& job : jobs) {
    const Outcome expected = job.run(on_one);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(on_three) == expected) << job.name;
  }
}

class Invariance : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Invariance, OneThreadAndThreeGiveTheSameDatasets) {
  const Graph graph = scattered(GetParam());
  expect_same_by_three_threads(graph, all_jobs(graph.vertices()));
}

TEST_P(Invariance, LayoutsAndCollisionStructuresChangeNothing) {
  const Graph graph = scattered(GetParam());
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);

  std::map<std::string, Outcome> first;
  for (const Job& job : all_jobs(graph.vertices())) {
    std::string key = job.name;
    for (const std::string free :
         {"/csr", "/wide", "/collision1", "/collision2", "/collision3", "/collision4"}) {
      if (const auto at = key.find(free); at != std::string::npos) key.erase(at, free.size());
    }
    const Outcome outcome = job.run(resident);

    const auto [known, fresh] = first.emplace(key, outcome);
    EXPECT_TRUE(fresh || known->second == outcome) << job.name;
  }
}

/// Tables built from lists while others are still being read are the same tables.
TEST(EdgesThatComeLate, ChangeNothing) {
  const Graph graph = scattered(unless_sanitized(20000, 6000));
  const TemporaryFolder folder;
  const std::string path = folder / "graph.h5";
  io::write_graph(path, graph, false);
  Device device({DeviceChoice::host, 3, 0});
  ResidentGraph whole(device, graph);
  std::vector<Job> jobs = walk_jobs(60);
  for (Job& job : sample_jobs(20, graph.vertices())) jobs.push_back(std::move(job));

  for (const Job& job : jobs) {
    const Graph coming = io::begin_reading(path, {}, 3);
    ResidentGraph late(device, coming), second(device, coming);
    EXPECT_FALSE(coming.pending_edges->complete()) << job.name;
    const Outcome expected = job.run(whole);

    EXPECT_TRUE(job.run(late) == expected) << job.name;
    EXPECT_TRUE(coming.pending_edges->complete()) << job.name;
    EXPECT_TRUE(job.run(second) == expected) << job.name << ", read for another";
  }
}

TEST(EdgePackings, ChangeNothing) {
  const Graph graph = scattered(20000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph exact(device, graph), unpacked(device, graph), tight(device, graph);
  unpacked.impl().packing = {40, 24};  // no bits for degrees: 16-byte edges
  tight.impl().packing = {30, 22};     // 12 bits for degrees: those of hubs are looked up
  ASSERT_TRUE(exact.impl().packing.worthwhile());
  ASSERT_FALSE(unpacked.impl().packing.worthwhile());
  ASSERT_GT(exact.impl().max_degree, 1u << 12);

  for (const Job& job : walk_jobs(unless_sanitized(2000, 200))) {
    const Outcome expected = job.run(exact);

    EXPECT_TRUE(job.run(unpacked) == expected) << job.name;
    EXPECT_TRUE(job.run(tight) == expected) << job.name;
  }
}

TEST(LargeInstances, OneThreadAndThreeGiveTheSameDatasets) {
  const Graph graph = scattered(20000);
  expect_same_by_three_threads(graph, large_jobs(graph.vertices()));
}

TEST_P(Invariance, PartsOfTheInstancesTogetherAreTheWhole) {
  const Graph graph = scattered(GetParam());
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  walks::Options walk;
  walk.kind = walks::Kind::biased;
  samples::Options sample;
  sample.fanout = {5, 5};
  const Starts starts = random_starts(600);
  WalkDigest whole_walks, part_walks;
  SampleDigest whole_samples, part_samples;

  sampling::run_walks(resident, starts, walk, &whole_walks);
  sampling::run_samples(resident, starts, sample, &whole_samples);
  for (const auto& [from, to] : {std::pair{0, 1}, {1, 250}, {250, 600}, {600, 700}}) {
    walk.first_instance = sample.first_instance = static_cast<Instance>(from);
    walk.last_instance = sample.last_instance = static_cast<Instance>(to);
    sampling::run_walks(resident, starts, walk, &part_walks);
    sampling::run_samples(resident, starts, sample, &part_samples);
  }

  EXPECT_TRUE(whole_walks == part_walks);
  EXPECT_TRUE(whole_samples == part_samples);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Invariance, testing::Values(1000, 10000));

/// The set answers questions of walks that are long enough, and its memory is free after them.
TEST(EdgeSetOfWalks, IsThereWhileTheyRun) {
  const Graph graph = scattered(2000);
  walks::Options options;
  options.kind = walks::Kind::node2vec, options.length = 40;
  const auto peak = [&](Layout layout) {
    options.layout = layout;
    Device device({DeviceChoice::host, 1, 0});
    ResidentGraph resident(device, graph);
    const std::uint64_t before = device.memory().used();
    walk_job("node2vec", random_starts(2000), options).run(resident);
    const std::uint64_t tables = resident.impl().table_bytes();
    EXPECT_EQ(device.memory().used(), before + tables) << "later runs have the set's memory";
    return device.memory().peak() - tables;
  };

  const EdgeSet set = EdgeSet::of({graph.out.view(), nullptr, !graph.directed}, 0, graph.vertices());
  EXPECT_GE(peak(Layout::wide), peak(Layout::csr) + set.bytes());
}

}  // namespace
}  // namespace sluice::test
