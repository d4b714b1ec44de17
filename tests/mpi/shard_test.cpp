// Ranks that each own a part of the graph give the bytes of one process that holds all of it.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class Shard : public MpiTest {
 protected:
  /// Walks of this kind on one rank, and on several that share out the graph.
  void compare(const std::vector<std::string>& kind, int ranks, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"walk", graph(), "--quiet", "--force", "--output"};
    const auto with = [&](const std::string& output, const std::vector<std::string>& also) {
      std::vector<std::string> all = words;
      all.push_back(at(output));
      all.insert(all.end(), kind.begin(), kind.end());
      all.insert(all.end(), also.begin(), also.end());
      return all;
    };
    std::vector<std::string> shard{"--distribution", "shard", "--report", at("report.json")};
    shard.insert(shard.end(), more.begin(), more.end());
    run(with("alone.h5", {}));
    run_on(ranks, with("ranks.h5", shard));
    EXPECT_EQ(read_bytes(at("alone.h5")), read_bytes(at("ranks.h5")))
        << kind[1] << " on " << ranks << " ranks";
    const auto report = nlohmann::json::parse(read_bytes(at("report.json")));
    EXPECT_GT(report["entries_sent"].get<std::uint64_t>(), 0u) << kind[1];
    EXPECT_EQ(report["entries_sent"], report["entries_received"]) << kind[1];
  }
};

TEST_F(Shard, EveryWalk) {
  compare({"--kind", "uniform", "--length", "20"}, 2);
  compare({"--kind", "biased", "--length", "20"}, 3, {"--partitions", "7"});
  compare({"--kind", "biased", "--bias", "degree", "--select", "its", "--length", "20"}, 4, {"--slots", "2"});
  compare({"--kind", "biased", "--select", "rejection", "--length", "20"}, 2, {"--partitions", "64"});
  compare({"--kind", "metropolis-hastings", "--length", "20"}, 3);
  compare({"--kind", "jump", "--length", "20"}, 2);
  compare({"--kind", "restart", "--length", "20", "--walks-per-vertex", "2"}, 3);
}

TEST_F(Shard, WalksThatAskOtherRanks) {
  compare({"--kind", "node2vec", "--p", "2", "--q", "0.5", "--length", "20"}, 3, {"--partitions", "7"});
  compare({"--kind", "node2vec", "--p", "0.001", "--q", "4", "--length", "8"}, 2);
  compare({"--kind", "node2vec", "--select", "its", "--length", "5"}, 4);
}

TEST_F(Shard, MoreRanksThanInstances) {
  compare({"--kind", "uniform", "--length", "20", "--instances", "2"}, 4);
}

TEST_F(Shard, WhatCannotBeIsRefused) {
  const auto finished = sluice_on(2, {"sample", graph(), "--kind", "neighbor", "--fanout", "2",
                                      "--distribution", "shard", "--output", at("samples.h5")});

  EXPECT_EQ(finished.status, 2) << finished.err;
  EXPECT_NE(finished.err.find("--distribution shard"), std::string::npos) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(at("samples.h5")));
}

}  // namespace
}  // namespace sluice::test
