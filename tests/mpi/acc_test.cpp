// Searches, shortest paths, cores, components and beliefs on several ranks give the bytes of one process.
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class AccRanks : public MpiTest {
 protected:
  /// The words of every program that runs on any graph.
  static std::vector<std::vector<std::string>> programs(const std::string& source = "1") {
    return {{"bfs", "--source", source}, {"sssp", "--source", source}, {"wcc"}};
  }
  /// The words of bp, with a model for `vertices` vertices.
  std::vector<std::string> beliefs(int vertices) {
    std::ofstream(at("coupling.txt")) << "3 1 1\n1 2 0.5\n1 0.5 4\n";
    std::ofstream priors(at("priors.txt"));
    for (int v = 0; v < vertices; ++v) priors << 1 + v % 5 << ' ' << 1 + v % 3 << ' ' << v % 2 << '\n';
    return {"bp", "--coupling", at("coupling.txt"), "--priors", at("priors.txt"), "--max-iterations", "20"};
  }

  /// Compares ranks with one process.
  void compare(const std::string& graph, const std::vector<std::string>& program, int ranks,
               const std::vector<std::string>& of_ranks = {}) {
    const auto words = [&](const std::string& output, const std::vector<std::string>& extra) {
      auto all = program;
      all.insert(all.begin() + 1, {graph, "--device", "host", "--quiet", "--force", "--output", at(output)});
      all.insert(all.end(), extra.begin(), extra.end());
      return all;
    };
    run(words("alone.h5", {}));
    run_on(ranks, words("ranks.h5", of_ranks));
    EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5")))
        << program[0] << " of " << graph << " on " << ranks;
  }

  /// Ids with gaps, several components, edges of length 0, self-loops and parallel edges.
  std::string scattered(const std::vector<std::string>& more) {
    std::ofstream edges(at("edges.txt"));
    for (int v = 0; v < 300; ++v)
      edges << v * 7 % 300 * 10 << ' ' << (v * v + 3 * v) % 300 * 10 << ' ' << v % 4 << '\n'
            << 4000 + v / 2 * 10 << ' ' << 4000 + v << ' ' << v % 3 << '\n';
    edges << "7 7 1\n7 8 0\n8 7 0\n7 8 2\n9000 9000 1\n";
    edges.close();
    std::vector<std::string> words{"convert", at("edges.txt"), at("scattered.h5"), "--weights",
                                   "column",  "--quiet",       "--force"};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return at("scattered.h5");
  }
};

TEST_F(AccRanks, AreThatOfOneProcess) {
  const std::string directed = scattered({"--reverse"});
  int ranks = 2;
  for (const auto& program : programs()) {
    compare(directed, program, ranks, {"--verify"});
    ranks = ranks % 3 + 2;
  }
  const std::string both_ways = scattered({"--undirected"});
  for (const auto& program : programs()) {
    compare(both_ways, program, ranks, {"--partitions", "3", "--slots", "2"});
    ranks = ranks % 3 + 2;
  }
  compare(both_ways, {"kcore"}, 2, {"--verify"});
  compare(both_ways, {"kcore"}, 3, {"--partitions", "3", "--slots", "2"});
}

TEST_F(AccRanks, ReadTheirPartOfTheFileAlone) {
  for (const auto& program : programs()) {
    compare(graph(), program, 3, {"--distribution", "shard", "--verify"});
    compare(scattered({"--reverse"}), program, 2, {"--distribution", "shard", "--verify"});
  }
  compare(graph(), {"kcore"}, 3, {"--distribution", "shard", "--verify"});
}

TEST_F(AccRanks, PullPathsAndCores) {
  for (const char* direction : {"auto", "pull"}) {
    const std::vector<std::string> paths{"sssp", "--source", "1", "--direction", direction};
    compare(graph(), paths, 2, {"--verify"});
    compare(scattered({"--reverse"}), paths, 3,
            {"--distribution", "shard", "--partitions", "3", "--slots", "2"});
    compare(graph(), {"kcore", "--direction", direction}, 3, {"--distribution", "shard", "--verify"});
    compare(graph(), {"kcore", "--k", "8", "--direction", direction}, 2,
            {"--partitions", "3", "--slots", "2"});
  }
}

/// Rounds have the directions that they have in one process, and read the same edges.
TEST_F(AccRanks, PullAsOneProcessDoes) {
  const auto searched = [&](const std::string& file, int ranks, std::vector<std::string> more) {
    const std::vector<std::string> words{"bfs",      file,       "--source", "1",
                                         "--device", "host",     "--quiet",  "--force",
                                         "--output", at("r.h5"), "--report", at("r.json")};
    more.insert(more.begin(), words.begin(), words.end());
    ranks == 1 ? run(more) : run_on(ranks, more);
    nlohmann::json json;
    std::ifstream(at("r.json")) >> json;
    for (auto& round : json["acc"]["trace"]) round.erase("seconds");
    return json["acc"];
  };
  const std::vector<std::vector<std::string>> ways{
      {"--distribution", "shard"},
      {"--distribution", "replicate"},
      {"--partitions", "5", "--slots", "2"},
      {"--distribution", "shard", "--partitions", "3", "--transport", "file"}};
  EXPECT_GT(searched(graph("kronecker", 12), 1, {})["pulls"], 0);
  for (const std::string& file : {graph("kronecker", 12), graph("grid", 10), scattered({"--reverse"})}) {
    const auto alone = searched(file, 1, {});
    const std::string expected = read_file(at("r.h5"));
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const int ranks = 2 + static_cast<int>(i % 3);
      const auto acc = searched(file, ranks, ways[i]);
      EXPECT_EQ(read_file(at("r.h5")), expected);
      EXPECT_EQ(acc["trace"], alone["trace"]) << file << ' ' << ranks;
      for (const char* direction : {"push", "pull"}) {
        auto forced = ways[i];
        forced.insert(forced.end(), {"--direction", direction});
        searched(file, ranks, forced);
        EXPECT_EQ(read_file(at("r.h5")), expected) << file << ' ' << ranks << ' ' << direction;
      }
    }
  }
}

TEST_F(AccRanks, FindCoresOfUndirectedGraphsOnly) {
  const std::string loops = scattered({"--undirected", "--keep-self-loops", "--keep-duplicates"});
  compare(loops, {"kcore"}, 2);
  compare(loops, {"kcore", "--k", "2"}, 3, {"--partitions", "3", "--slots", "2"});
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--reverse"}}) {
    const auto refused = sluice_on(2, {"kcore", scattered(more), "--device", "host", "--output", at("r.h5")});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("sluice convert --undirected"), std::string::npos) << refused.err;
    EXPECT_EQ(refused.err.find("sluice: "), refused.err.rfind("sluice: ")) << refused.err;
  }
}

TEST_F(AccRanks, OnGraphsThatAreHardInSomeWay) {
  for (const int ranks : {2, 3, 4}) pass_on(ranks, "AccOnRanks.*");
}

TEST_F(AccRanks, MayOwnNothing) {
  for (const auto& program : programs("0")) compare(graph("ring", 1, {}), program, 4);
}

TEST_F(AccRanks, ReportWhatAllDid) {
  run({"kcore", graph(), "--device", "host", "--output", at("alone.h5"), "--report", at("alone.json")});
  const auto finished = run_on(3, {"kcore", graph(), "--device", "host", "--partitions", "2", "--output",
                                   at("ranks.h5"), "--report", at("ranks.json")});
  nlohmann::json alone, ranks;
  std::ifstream(at("alone.json")) >> alone;
  std::ifstream(at("ranks.json")) >> ranks;

  EXPECT_EQ(alone["largest_core"], ranks["largest_core"]);
  EXPECT_EQ(alone["acc"]["edges"], ranks["acc"]["edges"]);
  EXPECT_EQ(ranks["ranks"], 3);
  EXPECT_EQ(ranks["partitions"], 2);
  EXPECT_GE(ranks["partition_transfers"], 6);
  EXPECT_TRUE(ranks["by_rank"].contains(nlohmann::json::json_pointer("/seconds/compute")))
      << ranks["by_rank"];
  EXPECT_NE(finished.err.find(", 3 ranks; "), std::string::npos) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

TEST_F(AccRanks, BelieveWhatOneProcessDoes) {
  const auto model = beliefs(256);
  const std::string plain = graph("uniform", 8, {"--undirected"});
  compare(plain, model, 2, {"--verify"});
  compare(plain, model, 4, {"--distribution", "shard", "--partitions", "7"});
  const std::string weighted = graph();
  compare(weighted, model, 3, {"--partitions", "3", "--slots", "2", "--verify"});
  compare(weighted, model, 2, {"--distribution", "shard", "--verify"});
  compare(weighted, model, 4, {"--transport", "file", "--partitions", "64", "--verify"});
  compare(graph("ring", 1, {"--undirected"}), beliefs(2), 4);
}

}  // namespace
}  // namespace sluice::test
