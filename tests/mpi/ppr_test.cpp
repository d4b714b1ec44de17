// Personalized PageRank on several ranks: the bytes that one process writes.
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
      EXPECT_EQ(read_bytes(at("alone.h5")), read_bytes(at("ranks.h5"))) << ranks;
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
  compare({"--method", "montecarlo", "--walks", "100"});
  compare({"--instances", "33", "--tolerance", "1e-6"});
}

TEST_F(PprOnRanks, SharesListedQueries) {
  std::ofstream(at("starts.txt")) << "1 2:2\n3\n4:0.5 5 6\n7\n";
  compare({"--starts", at("starts.txt")});
}

TEST_F(PprOnRanks, SaysThatItCannotShard) {
  const auto refused = sluice_on(2, {"ppr", graph(), "--distribution", "shard", "--output", at("r.h5")});

  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("use replicate"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace sluice::test
