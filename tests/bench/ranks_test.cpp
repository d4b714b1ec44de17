// The model of many ranks, and the table that sluice-bench writes by it.
#include <fmt/core.h>

#include <fstream>

#include "apps/bench/page/rank_model.hpp"
#include "bench/bench.hpp"

namespace sluice::test {
namespace {

using bench::RankCounts;
using bench::RankLinks;

constexpr RankLinks kLinks{
    .node = 8, .node_bandwidth = 100, .network_bandwidth = 10, .latency = 1, .message = 0.5};

TEST(RankModel, SharesWorkThatTravelsAndCopiesWhatIsGathered) {
  const RankCounts gathers{.seconds = 1, .ranks = 3, .bytes = 600, .gathers = true};
  RankCounts travels = gathers;
  travels.gathers = false;

  // 300 bytes, of which others have 3 of 4 parts; and 900 that leave three times of four, to one of four.
  EXPECT_DOUBLE_EQ(received_bytes(gathers, 4), 225);
  EXPECT_DOUBLE_EQ(received_bytes(travels, 4), 168.75);
  // All that the measured ranks sent has come to one of them.
  EXPECT_DOUBLE_EQ(3 * received_bytes(gathers, 3), 600);
  EXPECT_DOUBLE_EQ(3 * received_bytes(travels, 3), 600);
}

TEST(RankModel, SaysWhatWasMeasured) {
  const RankCounts job{.seconds = 80, .ranks = 4, .several_seconds = 50, .bytes = 1200, .rounds = 2};

  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 1).sum(), 80);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).sum(), 50);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).link, 3);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).messages, 2 * (1 + 3 * 0.5));
  // Work that travels is other work than one rank's: 4 ranks have 42 each.
  EXPECT_DOUBLE_EQ(work_of(job, kLinks).shared, 4 * (50 - 3 - 5));
  // 1,600 bytes leave 15 times of 16, through the network.
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 16).link, 1600.0 * 15 / 256 / 10);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 16).shared, 168.0 / 16);
}

TEST(RankModel, TellsWhatIsSharedFromWhatIsAlike) {
  // 20 are alike, 60 shared: 20 + 60 / 4 + 5 of messages. A link of 3 is hidden behind the 15.
  RankCounts job{.seconds = 80, .ranks = 4, .several_seconds = 40, .bytes = 1200, .rounds = 2};
  job.overlaps = true;

  EXPECT_DOUBLE_EQ(work_of(job, kLinks).shared, 60);
  EXPECT_DOUBLE_EQ(work_of(job, kLinks).alike, 20);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).sum(), 40);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 8).sum(), 20 + 60.0 / 8 + 2 * (1 + 7 * 0.5));
}

TEST(RankModel, SeesALinkThatWorkDoesNotHide) {
  // The link takes 30, more than any share of 80 less 5: 5 + 30 + 5 of messages.
  RankCounts job{.seconds = 80, .ranks = 4, .several_seconds = 40, .bytes = 12000, .rounds = 2};
  job.overlaps = true;

  EXPECT_DOUBLE_EQ(work_of(job, kLinks).alike, 5);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).sum(), 40);
}

TEST(RankModel, TakesWorkThatGrowsForOtherWork) {
  // Several ranks work longer than one: nothing is left that they would share.
  RankCounts job{.seconds = 10, .ranks = 4, .several_seconds = 20, .bytes = 0, .rounds = 2};
  job.overlaps = true;

  EXPECT_DOUBLE_EQ(work_of(job, kLinks).shared, 4 * (20 - 5));
  EXPECT_DOUBLE_EQ(work_of(job, kLinks).alike, 0);
  EXPECT_DOUBLE_EQ(seconds_on(job, kLinks, 4).sum(), 20);
}

TEST(RankModel, EndsWhereRanksNoLongerPay) {
  RankCounts job{.seconds = 64, .ranks = 2, .several_seconds = 32, .bytes = 0, .rounds = 0};
  EXPECT_EQ(scales_to(job, kLinks, 1024), 1024);
  job.rounds = 1;
  // 2 ranks take 32, 4 take 18.5, 8 take 12.5, 16 as many.
  EXPECT_EQ(scales_to(job, kLinks, 1024), 8);
}

class RankTable : public BenchTest {
 protected:
  void SetUp() override { std::filesystem::create_directory(at("reports")); }
  /// A report of a job of 26 iterations.
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
  EXPECT_NE(table.find("| pagerank static | 100 | 40 on 4 | 80.6 | 19.4 | 4: +37% |"), table.npos) << table;
  EXPECT_NE(table.find("| what each rank does alike |\n"), table.npos) << table;
  // Of all 100 %, 83, 63, 42, 25, 14, 7 and less.
  EXPECT_NE(table.find("pagerank static                                 █▇▆▄▂▂▁▁▁▁▁\n"), table.npos) << table;
}

/// What ranks gave each other before their rounds is there once, however many ranks there are.
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
      "bfs [ms]": 2, "bfs: times one rank": 1.6, "bfs: rounds": 7, "bfs: MB from GPU to GPU": 10})";

  std::ofstream(at("reports/other.json"))
      << R"({"command": "acc", "options": {}, "ranks": 1, "seconds": {}})";

  const std::string table = run_bench({"ranks", at("reports")}).out;

  EXPECT_NE(table.find("| bfs | 3.2 | 2 on 2 | 2.62 | 0.576 |  |"), table.npos) << table;
  EXPECT_NE(table.find("| pagerank | 15 | 10 on 2 |"), table.npos) << table;
  EXPECT_NE(table.find("| shard, strong | 10 | 20 on 2 |"), table.npos) << table;
  EXPECT_EQ(table.find("weak"), table.npos) << table;
  EXPECT_EQ(table.find("out of core"), table.npos) << table;
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
             row = table.find("| bfs | 36 | 24 on 2 |"),
             large = table.find("Of a graph of 26 G stored edges:");
  EXPECT_LT(small, row) << table;
  EXPECT_LT(row, large) << table;
  EXPECT_LT(large, table.find("| bfs | 39 | 26 on 2 |")) << table;
}

TEST_F(RankTable, IsThatOfItsPage) {
  const std::string source = paths::kSource;
  const std::string table = run_bench({"ranks", source + "/tests/bench/reports"}).out;

  EXPECT_NE(read_bytes(source + "/docs/ranks.md").find(table), std::string::npos)
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
}

}  // namespace
}  // namespace sluice::test
