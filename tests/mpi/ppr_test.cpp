// Personalized PageRank on several ranks gives the bytes of one process.
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class PprOnRanks : public MpiTest {
 protected:
  void compare(const std::vector<std::string>& more) {
    const auto words = [&](const std::string& output) {
      std::vector<std::string> all{"ppr", graph(),    "--quiet",  "--force",  "--top",
                                   "20",  "--output", at(output), "--report", at(output + ".json")};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    run(words("alone.h5"));
    for (const int ranks : {2, 3}) {
      run_on(ranks, words("ranks.h5"));
      EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5"))) << ranks;
      for (const char* figure :
           {"queries", "reached_vertices", "peak_query_bytes", "largest_error", "converged"})
        EXPECT_EQ(report("alone.h5.json")[figure], report("ranks.h5.json")[figure]) << figure;
    }
  }

  nlohmann::json report(const std::string& name) {
    nlohmann::json json;
    std::ifstream(at(name)) >> json;
    return json;
  }
};

TEST_F(PprOnRanks, IsThatOfOneProcess) {
  compare({"--length", "5"});
  compare({"--method", "meloppr", "--weighted", "--evaluate"});
  for (const char* precision : {"precision_truncated", "precision_limit_of_scored"})
    EXPECT_EQ(report("alone.h5.json")[precision], report("ranks.h5.json")[precision]);
  compare({"--method", "montecarlo", "--walks", "100"});
  compare({"--instances", "33", "--tolerance", "1e-6"});
}

TEST_F(PprOnRanks, SharesListedQueries) {
  std::ofstream(at("starts.txt")) << "1 2:2\n3\n4:0.5 5 6\n7\n";
  compare({"--starts", at("starts.txt")});
}

TEST_F(PprOnRanks, OwnPartsOfTheGraph) {
  const std::vector<std::vector<std::string>> methods{{"--length", "4", "--weighted"},
                                                      {"--method", "meloppr", "--dangling", "uniform"},
                                                      {"--method", "meloppr", "--one-by-one", "--balls", "4"},
                                                      {"--length", "3", "--score-units", "average"},
                                                      {"--method", "push", "--residual-threshold", "1e-4"},
                                                      {"--method", "montecarlo", "--walks", "100"}};
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const int ranks = 2 + static_cast<int>(i % 2);
    std::vector<std::string> words{"ppr",         graph("rmat", 9, {"--weights", "uniform"}),
                                   "--quiet",     "--force",
                                   "--top",       "20",
                                   "--instances", "50",
                                   "--report",    at("report.json")};
    words.insert(words.end(), methods[i].begin(), methods[i].end());
    auto alone = words, shared = words;
    alone.insert(alone.end(), {"--output", at("alone.h5")});
    shared.insert(shared.end(),
                  {"--output", at("ranks.h5"), "--distribution", "shard", "--partitions", "7", "--verify"});
    run(alone);
    run_on(ranks, shared);

    EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5"))) << methods[i][1];
    const auto said = report("report.json");
    EXPECT_GT(said["entries_sent"], 0);
    EXPECT_EQ(said["entries_sent"], said["entries_received"]);
    EXPECT_GT(said["bytes"]["exchanged"], 0);
  }
}

TEST_F(PprOnRanks, EvaluateWhereTheyOwnPartsOfTheGraph) {
  const auto words = [&](const std::string& output) {
    return std::vector<std::string>{
        "ppr", graph("rmat", 9, {}), "--method", "meloppr",  "--quiet",  "--instances",       "100", "--top",
        "20",  "--evaluate",         "--output", at(output), "--report", at(output + ".json")};
  };
  auto alone = words("alone.h5"), shared = words("ranks.h5");
  shared.insert(shared.end(), {"--distribution", "shard", "--partitions", "5"});
  run(alone);
  run_on(3, shared);

  EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5")));
  const auto expected = report("alone.h5.json"), said = report("ranks.h5.json");
  for (const char* figure : {"precision_truncated", "precision_truncated_of_scored", "precision_limit",
                             "precision_limit_of_scored"}) {
    EXPECT_EQ(said[figure], expected[figure]) << figure;
    EXPECT_GT(said[figure], 0.1) << figure;
  }
}

}  // namespace
}  // namespace sluice::test
