// The model of many ranks, and the table that sluice-bench writes with it.
#include <fmt/core.h>

#include <fstream>

#include "apps/bench/page/rank_model.hpp"
#include "bench/bench.hpp"

namespace sluice::test {
namespace {

using bench::RankCounts;
using bench::RankLimits;

constexpr RankLimits kLimits{.node = 8,
                             .node_bandwidth = 100,
                             .network_bandwidth = 10,
                             .latency = 1,
                             .message = 0.5,
                             .peer_reads = 20,
                             .round = 2};

TEST(RankModel, SharesWorkThatTravelsAndCopiesWhatIsGathered) {
  const RankCounts gathers{.seconds = 1, .ranks = 3, .bytes = 600, .gathers = true};
  RankCounts travels = gathers;
  travels.gathers = false;

  // Ranks gather 300 bytes, and three of four parts are remote. They send 900 bytes, three of four parts to
  // other ranks, and each of four ranks receives a quarter.
  EXPECT_DOUBLE_EQ(received_bytes(gathers, 4), 225);
  EXPECT_DOUBLE_EQ(received_bytes(travels, 4), 168.75);
  // One of the measured ranks received all that they sent.
  EXPECT_DOUBLE_EQ(3 * received_bytes(gathers, 3), 600);
  EXPECT_DOUBLE_EQ(3 * received_bytes(travels, 3), 600);
}

TEST(RankModel, AddsUpWorkThatTravels) {
  const RankCounts job{.seconds = 80, .ranks = 4, .bytes = 1200, .rounds = 2};

  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 1).sum(), 80);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).link, 3);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).messages, 2 * (1 + 3 * 0.5));
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 4 + 20 + 3 + 5) << "rounds that one rank does not have";
  // 15 of 16 parts of 1,600 bytes are sent over the network.
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 16).link, 1600.0 * 15 / 256 / 10);
}

TEST(RankModel, HidesALinkBehindASolversWorkAndHasItsRoundsOnEachRank) {
  RankCounts job{.seconds = 84, .ranks = 4, .bytes = 1200, .rounds = 2, .gathers = true, .overlaps = true};

  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 1).sum(), 84);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 4 + 80 / 4 + 5);
  job.bytes = 12000;  // the link needs 30, more than a share of the work
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 4 + 30 + 5);
  job.work = 2;  // ranks read twice as much as one does
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 4 + 2 * 80 / 4 + 5);
  job.seconds = 3;  // rounds need at most all of the time
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 1).sum(), 3);
}

TEST(RankModel, HasWhatNoCountExplainsOnMoreRanks) {
  RankCounts job{.seconds = 80, .ranks = 2, .rounds = 0};

  EXPECT_DOUBLE_EQ(unexplained_seconds(job, kLimits, 46), 6);
  EXPECT_DOUBLE_EQ(unexplained_seconds(job, kLimits, 30), 0) << "no job is faster than its counts";
  // Each rank does 12 of the 80 alike: 12 + 68 / 2 = 46, and 12 + 68 / 4 = 29.
  job.unexplained = 6;
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 2).sum(), 46);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 29);
  // Work that is sent belongs to no rank, so all ranks share it.
  job.bytes = 1e-9;
  EXPECT_NEAR(seconds_on(job, kLimits, 4).sum(), 20 + 3, 1e-6);
}

TEST(RankModel, HasWhatEachRankDoesAlikeAndReadsOfOthersMemory) {
  RankCounts job{.seconds = 80, .ranks = 2, .rounds = 0, .replicated = 8};

  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 1).sum(), 80);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 2).sum(), 8 + 36);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 8 + 18);
  // 2,400 reads; three of four are of other ranks' lists: 1,800, made by four ranks.
  job.reads = 1200;
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 2).reads, 600.0 / 20);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).reads, 2400.0 * 3 / 4 / 4 / 20);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLimits, 4).sum(), 8 + 18 + 22.5);
}

TEST(RankModel, ScalesGpusAndWork) {
  const RankCounts job{.seconds = 80, .ranks = 4, .bytes = 1200, .rounds = 2};
  RankLimits limits = kLimits;

  limits.speed = 4;
  EXPECT_DOUBLE_EQ(seconds_on(job, limits, 4).sum(), 4 + 5 + 3 + 5);
  limits.work = 8;
  EXPECT_DOUBLE_EQ(seconds_on(job, limits, 4).sum(), 4 + 8 * (5 + 3) + 5);
}

TEST(RankModel, EndsWhereRanksNoLongerPay) {
  RankCounts job{.seconds = 64, .ranks = 2, .rounds = 0};
  EXPECT_EQ(scales_to(job, kLimits, 1024), 1024);
  job.rounds = 1;
  // 2 ranks need 35.5, 4 need 20.5, 8 need 14.5.
  EXPECT_EQ(scales_to(job, kLimits, 1024), 8);
}

class RankTable : public BenchTest {
 protected:
  void SetUp() override { std::filesystem::create_directory(at("reports")); }
  /// Writes a report of a job of 26 iterations.
  void report(const std::string& name, int ranks, const std::string& compute, const char* checksum = "a") {
    std::ofstream(at("reports/" + name))
        << R"({"command": "pagerank", "options": {"method": "static"}, "graph": {"checksum": ")" << checksum
        << R"("}, "ranks": )" << ranks << R"(, "seconds": {"compute": )" << compute
        << R"(}, "bytes": {"exchanged": 3000000}, "solver": {"iterations": 26}})";
  }
};

TEST_F(RankTable, NamesWhatIsMeasuredAndWhereAJobEnds) {
  report("a.json", 1, "0.1"), report("b.json", 2, "0.07"), report("c.json", 4, "0.04");

  const std::string table = run_bench({"ranks", at("reports"), "--network-bandwidth", "25"}).out;

  EXPECT_NE(table.find("25 GB/s beyond"), table.npos) << table;
  EXPECT_NE(table.find("| pagerank static | 100 | 50.8 | 70 on 2 | -27% | 4: +37% | 40 |"), table.npos)
      << table;
  EXPECT_NE(table.find("| work that every rank repeats |\n"), table.npos) << table;
  // Of all 100 %, 83, 63, 42, 25, 14, 7 and less.
  EXPECT_NE(table.find("pagerank static                                 █▇▆▄▂▂▁▁▁▁▁\n"), table.npos) << table;
}

/// Ranks exchange prepared data once before their rounds, however many ranks there are.
TEST_F(RankTable, LeavesOutBytesThatWerePrepared) {
  const auto searched = [&](int ranks, double compute, int exchanged, int prepared) {
    std::ofstream(at(fmt::format("reports/{}.json", ranks))) << fmt::format(
        R"({{"command": "bfs", "options": {{}}, "graph": {{"checksum": "a"}}, "ranks": {},
            "seconds": {{"compute": {}}}, "bytes": {{"exchanged": {}}},
            "acc": {{"rounds": 7, "prepared_bytes": {}}}}})",
        ranks, compute, exchanged, prepared);
  };
  searched(1, 0.1, 0, 0), searched(2, 0.06, 5'000'000, 0);
  const std::string none = run_bench({"ranks", at("reports")}).out;
  searched(2, 0.06, 905'000'000, 900'000'000);
  EXPECT_EQ(run_bench({"ranks", at("reports")}).out, none);
  searched(2, 0.06, 905'000'000, 0);
  EXPECT_NE(run_bench({"ranks", at("reports")}).out, none);
}

TEST_F(RankTable, TakesEveryJobOfScalingReports) {
  std::ofstream(at("reports/2.json")) << R"({"command": "scaling", "options": {}, "ranks": 2, "seconds": {},
      "stored edges []": 4e9,
      "shard, strong [M steps/s]": 9, "shard, strong: times one rank": 0.5, "shard, strong: rounds": 3,
      "shard, strong: slowest rank s": 0.02, "shard, strong: MB from GPU to GPU": 7,
      "shard, weak [M steps/s]": 9, "shard, weak: times one rank": 0.5,
      "replicate out of core, strong: times one rank": 0.5,
      "pagerank [G edges/s]": 400, "pagerank: times one rank": 1.5, "pagerank: rounds": 1,
      "pagerank: MB from GPU to GPU": 10,
      "bfs [ms]": 2, "bfs: times one rank": 1.6, "bfs: rounds": 7, "bfs: MB from GPU to GPU": 10,
      "bfs: M edges": 500})";  // the run of one rank has no count

  std::ofstream(at("reports/other.json"))
      << R"({"command": "acc", "options": {}, "ranks": 1, "seconds": {}})";

  const std::string table = run_bench({"ranks", at("reports")}).out;

  EXPECT_NE(table.find("| bfs | 3.2 | 1.82 | 2 on 2 | -9% |  |"), table.npos) << table;
  EXPECT_NE(table.find("| pagerank | 15 | 7.53 | 10 on 2 |"), table.npos) << table;
  EXPECT_NE(table.find("| shard, strong | 10 | 5.12 | 20 on 2 |"), table.npos) << table;
  EXPECT_EQ(table.find("weak"), table.npos) << table;
  EXPECT_EQ(table.find("out of core"), table.npos) << table;
}

/// The bandwidth of links is measured beside the jobs; the edges that ranks read are counted.
TEST_F(RankTable, TakesLimitsAndWorkOfReportsUnlessTheyAreGiven) {
  std::ofstream(at("reports/2.json"))
      << R"({"command": "scaling", "options": {}, "ranks": 2, "seconds": {}, "stored edges []": 4e9,
             "limit: rank to rank [GB/s]": 1, "bfs, one rank: M edges": 10, "bfs: M edges": 15, "bfs [ms]": 20,
             "bfs: times one rank": 2, "bfs: rounds": 0, "bfs: MB from GPU to GPU": 70,
             "limit: random 4-byte reads of a peer [G reads/s]": 1, "neighbor: times one rank": 1,
             "neighbor: slowest rank s": 0.03, "neighbor: rounds": 0, "neighbor: MB from GPU to GPU": 0,
             "neighbor: alike s": 0.01, "neighbor: M reads of others": 20})";

  const auto row = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"ranks", at("reports")});
    return run_bench(more).out;
  };

  // Each rank receives half of 70 MB in 35 ms, which hide the 15 ms of work of each.
  EXPECT_NE(row({}).find("Links: 1 GB/s"), std::string::npos);
  EXPECT_NE(row({}).find("| bfs | 40 | 35 | 20 on 2 |"), std::string::npos) << row({});
  EXPECT_NE(row({"--node-bandwidth", "100"}).find("| bfs | 40 | 30 | 20 on 2 |"), std::string::npos);
  EXPECT_NE(row({"--node-bandwidth", "100", "--speed", "3"}).find("| bfs | 40 | 10 | 20 on 2 |"),
            std::string::npos);
  // 10 ms on each rank, half of the other 20, and 10 M reads at 1 G a second.
  EXPECT_NE(row({}).find("| neighbor | 30 | 30 | 30 on 2 | +0% |"), std::string::npos) << row({});
  EXPECT_NE(row({"--peer-reads", "2"}).find("| neighbor | 30 | 25 | 30 on 2 |"), std::string::npos);
}

TEST_F(RankTable, TellsGraphsApart) {
  for (const int scale : {24, 26}) {
    std::ofstream(at(fmt::format("reports/{}.json", scale))) << fmt::format(
        R"({{"command": "scaling", "options": {{}}, "ranks": 2, "seconds": {{}}, "stored edges []": {0}e9,
            "bfs [ms]": {0}, "bfs: times one rank": 1.5, "bfs: rounds": 7, "bfs: MB from GPU to GPU": 10}})",
        scale);
  }

  const std::string table = run_bench({"ranks", at("reports")}).out;

  const auto small = table.find("Of a graph of 24 G stored edges:"),
             row = table.find("| bfs | 36 | 18.2 | 24 on 2 |"),
             large = table.find("Of a graph of 26 G stored edges:");
  EXPECT_LT(small, row) << table;
  EXPECT_LT(row, large) << table;
  EXPECT_LT(large, table.find("| bfs | 39 | 19.7 | 26 on 2 |")) << table;
}

TEST_F(RankTable, IsThatOfItsPage) {
  const std::string source = paths::kSource;
  const std::string table = run_bench({"ranks", source + "/tests/bench/reports"}).out;

  EXPECT_NE(read_file(source + "/docs/ranks.md").find(table), std::string::npos)
      << "sluice-bench ranks tests/bench/reports says now:\n"
      << table;
}

TEST_F(RankTable, RefusesReportsThatDoNotBelongTogether) {
  report("a.json", 1, "0.1");
  refuse_bench(3, "pagerank static: needs a report of one rank and one of several", {"ranks", at("reports")});
  report("b.json", 4, "0.1", "other");
  refuse_bench(3, "pagerank static: its reports are of different graphs", {"ranks", at("reports")});
  report("b.json", 4, "null");
  refuse_bench(3, "reports: ", {"ranks", at("reports")});
  refuse_bench(2, "must be above 0", {"ranks", at("reports"), "--node-bandwidth", "0"});
  refuse_bench(2, "must be above 0", {"ranks", at("reports"), "--speed", "0"});
}

}  // namespace
}  // namespace sluice::test
