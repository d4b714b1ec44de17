// Outputs, messages and refusals of sluice pagerank.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"

namespace sluice::test {
namespace {

class PageRankCli : public CliTest {
 protected:
  nlohmann::json report() {
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  std::vector<double> ranks(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<double>(stream), {}};
  }
};

TEST_F(PageRankCli, WritesRanksAndReportsEveryIteration) {
  run({"pagerank", graph(), "--output", at("ranks.h5"), "--report", at("report.json"), "--verify"});

  const auto solver = report()["solver"];
  EXPECT_EQ(solver["end"], "converged");
  EXPECT_TRUE(solver["converged"]);
  EXPECT_EQ(solver["per_iteration"]["residual"].size(), solver["iterations"]);
  EXPECT_EQ(solver["per_iteration"]["seconds"].size(), solver["iterations"]);
  EXPECT_EQ(solver["per_iteration"]["residual"].back(), solver["residual"]);
  EXPECT_LE(solver["residual"], 1e-10);
  EXPECT_EQ(read_numbers(at("ranks.h5"), "rank").size(), 256u);
}

TEST_F(PageRankCli, TellsThatItDidNotConvergeAndIsNoFailure) {
  const auto finished = run({"pagerank", graph(), "--max-iterations", "2", "--output", at("ranks.h5"),
                             "--quiet", "--report", at("report.json")});

  EXPECT_NE(finished.err.find("NOT converged after 2 iterations"), std::string::npos) << finished.err;
  EXPECT_FALSE(report()["solver"]["converged"]);
  EXPECT_TRUE(std::filesystem::exists(at("ranks.h5")));
}

TEST_F(PageRankCli, SaysWhatF32CannotReach) {
  const auto finished = run({"pagerank", graph(), "--precision", "f32", "--tolerance", "1e-17", "--output",
                             at("ranks.h5"), "--report", at("report.json")});

  EXPECT_NE(finished.err.find("--precision f32 cannot reach --tolerance 1e-17, f64 may"), std::string::npos)
      << finished.err;
  EXPECT_LT(report()["solver"]["iterations"], 500);
}

TEST_F(PageRankCli, WritesOriginalIdsBesideRanksWhereAsked) {
  std::ofstream(at("edges.txt")) << "70 1000\n1000 70\n1000 500000\n";
  run({"convert", at("edges.txt"), at("edges.h5"), "--quiet"});

  const auto named = run({"pagerank", at("edges.h5"), "--original-ids", "--format", "text", "--output", "-"});
  const auto plain = run({"pagerank", at("edges.h5"), "--format", "text", "--output", "-"});

  EXPECT_TRUE(named.out.starts_with("# vertices rank\n70 ")) << named.out;
  EXPECT_NE(named.out.find("\n500000 "), std::string::npos);
  ASSERT_EQ(ranks(plain.out).size(), 3u);
  EXPECT_NEAR(ranks(plain.out)[0] + ranks(plain.out)[1] + ranks(plain.out)[2], 1, 1e-12);
}

TEST_F(PageRankCli, GivesTheSameFileForAnyThreads) {
  run({"pagerank", graph(), "--threads", "1", "--output", at("one.h5")});
  run({"pagerank", graph(), "--threads", "4", "--output", at("four.h5")});

  EXPECT_EQ(read_file(at("one.h5")), read_file(at("four.h5")));
}

TEST_F(PageRankCli, PlansWithoutRunning) {
  const auto finished = run({"pagerank", graph(), "--plan"});

  EXPECT_NE(finished.out.find("device memory"), std::string::npos);
  refuse(4, "device memory",
         {"pagerank", graph(), "--device", "host", "--device-memory", "1KiB", "--output", at("r.h5")});
}

TEST_F(PageRankCli, RefusesWhatHasNoMeaning) {
  const std::string file = graph("ring", 4, {});
  const auto refused = [&](const std::string& words, std::vector<std::string> more) {
    std::vector<std::string> arguments{"pagerank", file, "--output", at("r.h5")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuse(2, words, arguments);
  };
  refused("--damping", {"--damping", "1"});
  refused("--tolerance", {"--tolerance", "-1"});
  refused("--max-iterations", {"--max-iterations", "0"});
  refused("--norm", {"--norm", "l3"});
  refused("--weighted", {"--weighted"});
  refused("--precision f32", {"--weighted", "--precision", "f32"});
  refused("--instance-range", {"--instance-range", "0:1"});
  refused("--layout", {"--layout", "wide"});
}

}  // namespace
}  // namespace sluice::test
