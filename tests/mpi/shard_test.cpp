// Ranks that each own a range of partitions and send each other work give the bytes of one process.
// matrix_test.cpp covers every kind, jobs_on_ranks.cpp the techniques.
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class Shard : public MpiTest {
 protected:
  /// Runs `arguments` on ranks that share out the graph; the file must have the expected bytes.
  void expect_same(const std::string& expected, std::vector<std::string> arguments, int ranks,
                   const std::vector<std::string>& options) {
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--force", "--distribution", "shard", "--report", at("cell.json")});
    run_on(ranks, arguments);

    EXPECT_EQ(read_file(at("cell.h5")), expected);
    const auto report = nlohmann::json::parse(read_file(at("cell.json")));
    EXPECT_EQ(report["ranks"], ranks);
    EXPECT_GT(report["entries_sent"].get<std::uint64_t>(), 0u);
    EXPECT_EQ(report["entries_sent"], report["entries_received"]);
  }
  void compare(const Kind& kind, int ranks, const std::vector<std::string>& options) {
    run(arguments_of(kind, "whole.h5", {"--force"}));
    expect_same(read_file(at("whole.h5")), arguments_of(kind, "cell.h5", {}), ranks, options);
  }
};

TEST_F(Shard, ChecksTheRowsOfEveryKind) {
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name);
    run(arguments_of(kind, "whole.h5", {"--force"}));
    expect_same(read_file(at("whole.h5")), arguments_of(kind, "cell.h5", {"--verify"}), 2,
                {"--partitions", "7", "--slots", "2"});
  }
}

TEST_F(Shard, TechniquesOfEveryJob) {
  pass_on(3, "JobsOnRanks.EveryTechnique:JobsOnRanks.SamplersOfAUsersOwn");
}

TEST_F(Shard, RanksThatOwnNothing) {
  pass_on(4, "JobsOnRanks.RanksThatOwnNothing");
}

TEST_F(Shard, NumbersAndColumnsOfAnyLength) {
  pass_on(3, "JobsOnRanks.InstancesFarApart:JobsOnRanks.ColumnsTravelInPieces");
}

TEST_F(Shard, OneRankRunsOutOfMemory) {
  pass_on(2, "JobsOnRanks.OneRankRunsOutOfMemory");
}

/// Most proposals are rejected, so the scan of the last trial decides, and needs two lists at once.
TEST_F(Shard, ScansNeedTwoLists) {
  compare({"node2vec", {"walk", "--kind", "node2vec", "--p", "0.001", "--q", "4", "--length", "8"}}, 2, {});
  compare({"node2vec", {"walk", "--kind", "node2vec", "--select", "its", "--length", "5"}}, 4, {});
}

/// A walk leaves a rank at most once a step, so ranks that hold their partitions need at most one round a
/// step.
TEST_F(Shard, PartitionsThatFitComeOnce) {
  compare({"uniform", {"walk", "--kind", "uniform", "--length", "9"}}, 3, {});
  const auto held = nlohmann::json::parse(read_file(at("cell.json")));
  EXPECT_LE(held["rounds"].get<std::uint64_t>(), 9 * held["batches"].get<std::uint64_t>());
  EXPECT_EQ(held["partition_transfers"], 3);

  // A batch of 5120 walks needs twice the memory that is free beside the partitions.
  compare({"uniform", {"walk", "--kind", "uniform", "--length", "9", "--walks-per-vertex", "20"}}, 2,
          {"--device-memory", "300K"});
  const auto batches = nlohmann::json::parse(read_file(at("cell.json")));
  EXPECT_GT(batches["batches"].get<std::uint64_t>(), 2u);  // sum over both ranks
}

/// A partition that is brought again comes from host memory, unless the transport is `file`.
TEST_F(Shard, WhatWasReadStaysInHostMemory) {
  const auto report_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options{"--partitions", "16", "--slots", "3"};
    options.insert(options.end(), more.begin(), more.end());
    compare({"uniform", {"walk", "--kind", "uniform", "--length", "30"}}, 2, options);
    return nlohmann::json::parse(read_file(at("cell.json")));
  };

  const auto kept = report_of({}), read = report_of({"--transport", "file"});

  const auto& sizes = kept["graph"];
  const std::uint64_t offsets = 2 * 8 * (sizes["vertices"].get<std::uint64_t>() + 1);
  EXPECT_EQ(kept["bytes"]["read"].get<std::uint64_t>(), offsets + 4 * sizes["edges"].get<std::uint64_t>());
  EXPECT_GT(kept["partition_transfers"].get<std::uint64_t>(), 2 * kept["partitions"].get<std::uint64_t>());
  EXPECT_GT(read["bytes"]["read"].get<std::uint64_t>(), 2 * kept["bytes"]["read"].get<std::uint64_t>());
}

/// The memory of walks does not include the look-up tables of a thousand partitions.
TEST_F(Shard, LookUpsOfManyPartitionsFit) {
  const std::vector<std::string> walk{"walk",
                                      graph("uniform", 13, {"--undirected", "--edge-factor", "48"}),
                                      "--length",
                                      "2",
                                      "--quiet",
                                      "--force",
                                      "--walks-per-vertex",
                                      "40",
                                      "--output"};
  auto whole = walk, cell = walk;
  whole.push_back(at("whole.h5")), cell.push_back(at("cell.h5"));
  run(whole);

  expect_same(read_file(at("whole.h5")), cell, 2, {"--partitions", "1000", "--device-memory", "4500KiB"});
  const auto held = nlohmann::json::parse(read_file(at("cell.json")));
  EXPECT_GT(held["batches"].get<std::uint64_t>(), 2u);
  EXPECT_EQ(held["partition_transfers"], held["partitions"]);
}

TEST_F(Shard, MoreRanksThanInstances) {
  compare({"uniform", {"walk", "--kind", "uniform", "--length", "20", "--instances", "2"}}, 4, {});
  compare({"pool", {"walk", "--kind", "multidimensional", "--frontier-size", "4", "--length", "20"}}, 3, {});
  compare({"neighbor", {"sample", "--kind", "neighbor", "--fanout", "9,9", "--instances", "2"}}, 4, {});
  compare({"edge", {"sample", "--kind", "edge", "--count", "50", "--instances", "2"}}, 4, {});
  compare({"node", {"sample", "--kind", "node", "--count", "50", "--instances", "2"}}, 4, {});
  compare({"layer", {"sample", "--kind", "layer", "--layer-size", "9,9", "--instances", "2"}}, 4, {});
}

TEST_F(Shard, WhatCannotBeIsRefused) {
  const auto finished =
      sluice_on(2, {"sample", graph(), "--kind", "layer", "--layer-size", "2", "--distribution", "shard",
                    "--transport", "mapped", "--output", at("samples.h5")});

  EXPECT_EQ(finished.status, 2) << finished.err;
  EXPECT_NE(finished.err.find("--distribution shard"), std::string::npos) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(at("samples.h5")));
}

}  // namespace
}  // namespace sluice::test
