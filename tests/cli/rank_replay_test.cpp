// sluice pagerank --replay: its table, its report, and what it refuses.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/cli.hpp"

namespace sluice::test {
namespace {

class RankReplayCli : public CliTest {
 protected:
  /// 2000 edges among 200 vertices, times in no order, a self-loop among them.
  std::string temporal() {
    std::ofstream file(at("temporal.txt"));
    std::mt19937_64 random(5);
    for (int i = 0; i < 2000; ++i)
      file << random() % 200 << ' ' << 200 - random() % 200 * random() % 200 << ' ' << random() % 5000
           << '\n';
    file << "3 3 17\n";
    return at("temporal.txt");
  }

  nlohmann::json replay(std::vector<std::string> more) {
    std::vector<std::string> arguments{"pagerank", "--replay", temporal(),        "--batch-fraction",
                                       "5e-3",     "--report", at("report.json"), "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    error_ = run(arguments).err;
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  std::string error_;
};

TEST_F(RankReplayCli, ReportsEveryMethodAfterEveryBatch) {
  const auto report = replay({"--batches", "7"});

  EXPECT_GE(report["self_loops_dropped"], 1);
  ASSERT_EQ(report["batches"].size(), 7u);
  for (const auto& batch : report["batches"]) {
    EXPECT_EQ(batch["inserted"].get<int>() + batch["present"].get<int>(), 10);
    for (const char* method : {"static", "nd", "dt", "df", "dfp", "dfr"}) {
      SCOPED_TRACE(method);
      const auto& run = batch["methods"][method];
      const bool frontier = method[0] == 'd' && method[1] == 'f';
      EXPECT_TRUE(run["converged"]);
      EXPECT_LT(run["error_linf"], frontier ? 1e-7 : 1e-9);
      EXPECT_GE(run["ever_affected"], run["initially_affected"]);
    }
  }
  for (const char* word : {"static", "nd", "dt", "df", "dfp", "update", "speedup"})
    EXPECT_NE(error_.find(word), std::string::npos) << word;
}

TEST_F(RankReplayCli, EndsWhereEdgesEndAndTakesOneMethod) {
  const auto report = replay({"--method", "dfp", "--initial", "0.98", "--dangling", "self-loop"});

  EXPECT_EQ(report["batches"].size(), 4u);
  EXPECT_EQ(report["batches"][0]["methods"].size(), 2u);
  EXPECT_TRUE(replay({"--initial", "1"})["batches"].empty());
}

TEST_F(RankReplayCli, RefusesWhatHasNoMeaning) {
  const std::string edges = temporal();
  std::ofstream(at("timeless.txt")) << "1 2\n2 3\n";

  refuse(2, "--initial needs --replay", {"pagerank", at("g.h5"), "--initial", "0.5", "--output", at("x.h5")});
  refuse(2, "GRAPH is required", {"pagerank", "--output", at("x.h5")});
  refuse(2, "--output has no meaning with --replay", {"pagerank", "--replay", edges, "--output", at("x.h5")});
  refuse(2, "--transport file has no meaning with --replay",
         {"pagerank", "--replay", edges, "--transport", "file"});
  refuse(2, "--rows has no meaning with --replay", {"pagerank", "--replay", edges, "--rows", "listed"});
  refuse(2, "--initial: must be between 0 and 1", {"pagerank", "--replay", edges, "--initial", "1.5"});
  refuse(2, "--batch-fraction: must be above 0", {"pagerank", "--replay", edges, "--batch-fraction", "0"});
  refuse(3, "timeless.txt:1:", {"pagerank", "--replay", at("timeless.txt")});
  refuse(3, "absent.txt", {"pagerank", "--replay", at("absent.txt")});
}

}  // namespace
}  // namespace sluice::test
