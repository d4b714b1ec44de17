// The report of a job of many ranks.
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class RanksReport : public MpiTest {};

TEST_F(RanksReport, CountsTheWholeJobAndShowsTheSpread) {
  const std::vector<std::string> walk{"walk", graph(), "--length", "9", "--output"};
  auto alone = walk, together = walk;
  alone.insert(alone.end(), {at("a.h5"), "--report", at("a.json")});
  together.insert(together.end(), {at("b.h5"), "--report", at("b.json")});
  run(alone);
  const auto said = run_on(3, together).err;

  const auto one = nlohmann::json::parse(read_file(at("a.json")));
  const auto all = nlohmann::json::parse(read_file(at("b.json")));
  EXPECT_EQ(one["ranks"], 1);
  EXPECT_FALSE(one.contains("by_rank"));
  EXPECT_EQ(all["ranks"], 3);
  for (const char* name : {"instances", "steps", "sampled_edges", "selections"}) {
    EXPECT_EQ(all[name], one[name]) << name;
    EXPECT_LE(all["by_rank"][name]["min"], all["by_rank"][name]["max"]) << name;
    EXPECT_LT(all["by_rank"][name]["max"], all[name]) << name;
  }
  EXPECT_EQ(all["by_rank"]["instances"]["min"], 85);
  EXPECT_EQ(all["by_rank"]["instances"]["max"], 86);
  EXPECT_EQ(all["seconds"]["compute"], all["by_rank"]["seconds"]["compute"]["max"]);
  EXPECT_EQ(all["peak_host_bytes"], all["by_rank"]["peak_host_bytes"]["max"]);
  EXPECT_GT(all["bytes"]["exchanged"], 0);
  // The graph has one copy, read once, and each rank is charged a third of it.
  EXPECT_EQ(all["bytes"]["read"], one["bytes"]["read"]);
  EXPECT_EQ(all["by_rank"]["bytes"]["read"]["min"], 0);
  EXPECT_LE(all["peak_host_bytes"].get<double>(), one["peak_host_bytes"].get<double>() / 3 + 8);
  EXPECT_NEAR(all["steps_per_second"].get<double>(),
              all["steps"].get<double>() / all["seconds"]["compute"].get<double>(), 1.0);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("256 walks"), std::string::npos) << said;
}

TEST_F(RanksReport, BenchSaysHowRanksScale) {
  const auto done = bench_on(2, {"scaling", "--device", "host", "--threads", "1", "--scale", "8",
                                 "--repetitions", "1", "--scratch", at(""), "--report", at("scaling.json")});
  ASSERT_EQ(done.status, 0) << done.err;

  const auto said = nlohmann::json::parse(read_file(at("scaling.json")));
  EXPECT_EQ(said["ranks []"], 2);
  EXPECT_GT(said["one rank [M steps/s]"], 0);
  for (const std::string study : {"replicate, strong", "replicate, weak", "replicate out of core, strong",
                                  "shard, strong", "shard, weak"}) {
    EXPECT_GT(said[study + " [M steps/s]"], 0) << study;
    EXPECT_GT(said[study + ": times one rank"], 0) << study;
    EXPECT_LE(said[study + ": fastest rank s"], said[study + ": slowest rank s"]) << study;
    EXPECT_EQ(said[study + ": entries exchanged"] > 0, study.starts_with("shard")) << study;
    EXPECT_LE(said[study + ": exchange %"], 100) << study;
  }
  EXPECT_GT(said["pagerank, one rank [G edges/s]"], 0);
  EXPECT_GT(said["pagerank [G edges/s]"], 0);
  EXPECT_GT(said["pagerank: times one rank"], 0);
  EXPECT_GT(said["ppr, 64 queries [ms]"], 0);
  EXPECT_GT(said["ppr, 64 queries: times one rank"], 0);
  EXPECT_GT(said["limit: rank to rank [GB/s]"], 0);
  EXPECT_GT(said["limit: a message [us]"], 0);
  EXPECT_GT(said["pagerank, shard: times one rank"], 0);
  for (const std::string family :
       {"uniform", "by weight", "node2vec", "neighbor 15,10", "pagerank", "bfs", "sssp", "wcc", "kcore"})
    EXPECT_GT(said["load, " + family + " [s]"], 0) << family;
  EXPECT_GT(said["bfs, path of 100 vertices [ms]"], 0);
  EXPECT_EQ(said["bfs, path of 100 vertices: rounds"], 100) << "a vertex a round";
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"scaling.json"}) << "the graph's file was left behind";
  EXPECT_EQ(bench_on(2, {"limits", "--device", "host"}).status, 2);
}

TEST_F(RanksReport, BenchLeavesOutWhatIsNotAskedFor) {
  const auto done = bench_on(2, {"scaling", "--device", "host", "--threads", "1", "--scale", "8",
                                 "--repetitions", "1", "--only", "^pagerank$", "--report", at("some.json")});
  ASSERT_EQ(done.status, 0) << done.err;

  const auto said = nlohmann::json::parse(read_file(at("some.json")));
  EXPECT_GT(said["pagerank [G edges/s]"], 0);
  EXPECT_FALSE(said.contains("pagerank, one rank [G edges/s]"));
  EXPECT_FALSE(said.contains("pagerank: times one rank"));
  EXPECT_FALSE(said.contains("one rank [M steps/s]"));
  EXPECT_FALSE(said.contains("limit: a message [us]"));
  EXPECT_FALSE(said.contains("load, pagerank [s]"));
}

TEST_F(RanksReport, BenchHasTheFiltersOfRanksAlone) {
  const std::vector<std::string> papers{"papers", "--device", "host",    "--threads",
                                        "1",      "--scale",  "8",       "--repetitions",
                                        "1",      "--only",   "filters", "--report"};
  const auto said_on = [&](int ranks, const std::string& name) {
    auto arguments = papers;
    arguments.push_back(at(name));
    const auto done = bench_on(ranks, arguments);
    EXPECT_EQ(done.status, 0) << done.err;
    return nlohmann::json::parse(read_file(at(name)));
  };

  const auto one = said_on(1, "one.json"), two = said_on(2, "two.json");

  for (const std::string table : {"SIMD-X filters on ranks", "SIMD-X filters on ranks, in partitions"}) {
    EXPECT_EQ(one[table + ": all []"], "needs several ranks");
    for (const char* const program : {"bfs", "sssp", "kcore"})
      for (const char* const filter : {"ballot", "jit"})
        EXPECT_EQ(two[table + ": " + program + ", " + filter + " []"], "needs a GPU");
  }
  EXPECT_TRUE(one.contains("SIMD-X filters in partitions: bfs, online []"));
  EXPECT_FALSE(two.contains("SIMD-X filters in partitions: bfs, online []"))
      << "each rank would run it alone";
}

}  // namespace
}  // namespace sluice::test
