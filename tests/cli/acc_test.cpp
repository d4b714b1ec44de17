// Outputs, messages and refusals of sluice bfs, sssp, kcore, wcc and bp.
#include <sstream>

#include "cli/acc_cli.hpp"

namespace sluice::test {
namespace {

TEST_F(AccCli, BfsWritesDepthsAndParents) {
  const std::string file = small();

  EXPECT_EQ(text({"bfs", file, "--source", "1"}),
            "# depth parent\n-1 -1\n0 1\n1 1\n2 2\n2 2\n3 4\n-1 -1\n-1 -1\n");
  EXPECT_EQ(text({"bfs", file, "--source", "20", "--original-ids"}),
            "# vertices depth parent\n10 -1 -1\n20 0 20\n30 1 20\n40 2 30\n50 2 30\n90 3 50\n700 -1 -1\n800 "
            "-1 -1\n");
}

TEST_F(AccCli, SsspWritesDistances) {
  const std::string file = small();

  EXPECT_EQ(text({"sssp", file, "--source", "0"}), "0\n1\n2\n2\n3\n7\ninf\ninf\n");
  EXPECT_EQ(text({"sssp", file, "--source", "0", "--delta", "0.5"}), "0\n1\n2\n2\n3\n7\ninf\ninf\n");
}

TEST_F(AccCli, KcoreWritesCoreNumbersOrMembers) {
  const std::string file = small();

  EXPECT_EQ(text({"kcore", file}), "2\n2\n2\n2\n2\n1\n1\n1\n");
  EXPECT_EQ(text({"kcore", file, "--k", "2"}), "1\n1\n1\n1\n1\n0\n0\n0\n");
  EXPECT_EQ(text({"kcore", file, "--k", "3"}), "0\n0\n0\n0\n0\n0\n0\n0\n");
}

TEST_F(AccCli, WccWritesTheSmallestIdOfAComponent) {
  const std::string file = small();

  EXPECT_EQ(text({"wcc", file}), "0\n0\n0\n0\n0\n0\n6\n6\n");
  EXPECT_EQ(text({"wcc", file, "--original-ids"}),
            "# vertices component\n10 10\n20 10\n30 10\n40 10\n50 10\n90 10\n700 700\n800 700\n");
}

TEST_F(AccCli, BpWritesBeliefs) {
  const std::string file = small({"--undirected"});
  std::ofstream(at("coupling.txt")) << "# agree\n0.9 0.1\n0.1 0.9\n";
  std::ofstream(at("priors.txt")) << "1 3\n1 1\n1,1\n1 1\n1 1\n1 1\n2 1\n1 0\n";
  std::ofstream(at("named.txt")) << "800 1 0\n700 2 1\n10 1 3\n20 1 1\n30 1 1\n40 1 1\n50 1 1\n90 1 1\n";
  const std::vector<std::string> words{"bp", file, "--coupling", at("coupling.txt"), "--priors"};
  auto plain = words, named = words;
  plain.push_back(at("priors.txt"));
  named.insert(named.end(), {at("named.txt"), "--original-ids"});

  const std::string beliefs = text(plain), by_id = text(named);

  std::istringstream stream(beliefs);
  std::vector<double> numbers{std::istream_iterator<double>(stream), {}};
  ASSERT_EQ(numbers.size(), 16u) << beliefs;
  for (std::size_t v = 0; v < 8; ++v) EXPECT_NEAR(numbers[2 * v] + numbers[2 * v + 1], 1, 1e-6);
  EXPECT_LT(numbers[0], 0.25);                // its neighbours prefer the same state
  EXPECT_NEAR(numbers[12], 18.0 / 19, 1e-6);  // (2 x 0.9) : (1 x 0.1): its neighbour is certain
  EXPECT_EQ(numbers[14], 1);
  EXPECT_TRUE(by_id.starts_with("# vertices belief\n10 ")) << by_id;
  EXPECT_NE(by_id.find("\n800 1 0\n"), std::string::npos) << by_id;
}

TEST_F(AccCli, BpNamesFileAndLineOfABadModel) {
  const std::string file = graph("ring", 2, {"--undirected"});
  std::ofstream(at("good.txt")) << "1 2\n2 1\n";
  std::ofstream(at("priors.txt")) << "1 2\n2 1\n1 1\n1 1\n";
  const auto refused = [&](const std::string& words, const std::string& coupling, const std::string& priors) {
    std::ofstream(at("c.txt")) << coupling;
    std::ofstream(at("p.txt")) << priors;
    refuse(3, words,
           {"bp", file, "--output", at("b.h5"), "--coupling", coupling.empty() ? at("good.txt") : at("c.txt"),
            "--priors", priors.empty() ? at("priors.txt") : at("p.txt")});
  };
  refused("c.txt:1: '-1'", "-1 2\n2 1\n", "");
  refused("c.txt: not symmetric", "1 2\n3 1\n", "");
  refused("c.txt:2: a coupling must have as many rows as columns", "1 2\n3\n", "");
  refused("c.txt: 1 rows of 2", "1 2\n", "");
  refused("c.txt: every entry is zero", "0 0\n0 0\n", "");
  refused("p.txt:2: '1x'", "", "1 2\n1x 1\n");
  refused("p.txt:2: 3 columns", "", "1 2\n1 1 1\n");
  refused("p.txt:1: the prior is zero", "", "0 0\n");
  refused("p.txt: 2 rows for 4", "", "1 2\n1 1\n");
  refused("p.txt:5: more rows than 4 vertices", "", "1 2\n1 1\n1 1\n1 1\n1 1\n");
  refused("exclude every state of a vertex", "1 0\n0 1\n", "1 0\n0 1\n1 1\n1 1\n");
  const std::vector<std::string> good{"--coupling",     at("good.txt"), "--priors",
                                      at("priors.txt"), "--output",     at("b.h5")};
  const auto misused = [&](const std::string& words, std::vector<std::string> more) {
    more.insert(more.end(), good.begin(), good.end());
    refuse(2, words, more);
    more.emplace_back("--plan");
    refuse(2, words, more);
  };
  misused("--message-damping", {"bp", file, "--message-damping", "1"});
  misused("--fusion", {"bp", file, "--device", "host", "--fusion", "all"});
  misused("--tolerance", {"bp", file, "--tolerance", "-1"});
  misused("--filter", {"bp", file, "--filter", "jit"});
  misused("directed", {
                          "bp",
                          graph("rmat", 2, {}),
                      });
  refuse(2, "--priors FILE is missing", {"bp", file, "--output", at("b.h5")});
  std::vector<std::string> small{"bp", file, "--device", "host", "--device-memory", "300B"};
  small.insert(small.end(), good.begin(), good.end());
  refuse(4, "the job needs 352 B of device memory, but 300 B are allowed", small);
}

TEST_F(AccCli, BpTellsThatItDidNotConvergeAndIsNoFailure) {
  const auto finished = run(bp("b.h5", {"--max-iterations", "2", "--report", at("report.json")}));

  EXPECT_NE(finished.err.find("NOT converged after 2 rounds"), std::string::npos) << finished.err;
  EXPECT_FALSE(report()["acc"]["converged"]);
  EXPECT_EQ(report()["acc"]["residuals"].size(), 2u);
}

/// Messages stay in host memory, whatever the slots of partitions use.
TEST_F(AccCli, BpSaysWhatItsMessagesTake) {
  run(bp("whole.h5", {"--verify"}));
  run(bp("parts.h5", {"--partitions", "7", "--slots", "2", "--transport", "copied", "--verify"}));
  run(bp("file.h5", {"--partitions", "64", "--transport", "file", "--verify"}));
  run(bp("small.h5", {"--device-memory", "40KiB"}));

  EXPECT_TRUE(read_file(at("parts.h5")) == read_file(at("whole.h5")));
  EXPECT_TRUE(read_file(at("file.h5")) == read_file(at("whole.h5")));
  EXPECT_TRUE(read_file(at("small.h5")) == read_file(at("whole.h5")));
  const auto plan = run(bp("x.h5", {"--partitions", "7", "--plan"}));
  EXPECT_NE(plan.out.find("  messages of edges"), std::string::npos) << plan.out;
  refuse(4, "(raise --host-memory, name a folder by --scratch, or use more ranks)",
         bp("x.h5", {"--partitions", "7", "--host-memory", "100KiB"}));
  EXPECT_FALSE(std::filesystem::exists(at("x.h5")));
}

TEST_F(AccCli, WritesWhatTheContractNames) {
  run({"bfs", graph(), "--source", "3", "--output", at("bfs.h5"), "--verify"});
  run({"sssp", graph(), "--source", "3", "--output", at("sssp.h5"), "--verify"});
  run({"kcore", graph(), "--output", at("kcore.h5"), "--verify"});
  run({"wcc", graph(), "--output", at("wcc"), "--format", "npy", "--verify"});

  EXPECT_EQ(read_numbers(at("bfs.h5"), "depth").size(), 256u);
  EXPECT_EQ(read_numbers(at("bfs.h5"), "parent")[3], 3);
  EXPECT_EQ(read_numbers(at("sssp.h5"), "distance")[3], 0);
  EXPECT_EQ(read_numbers(at("kcore.h5"), "core").size(), 256u);
  EXPECT_TRUE(std::filesystem::exists(at("wcc") + "/component.npy"));
}

TEST_F(AccCli, ReportsEveryRound) {
  const auto finished = run({"bfs", graph("kronecker", 12), "--source", "1", "--output", at("bfs.h5"),
                             "--report", at("report.json")});

  const auto json = report();
  const auto acc = json["acc"];
  EXPECT_EQ(acc["trace"].size(), acc["rounds"]);
  EXPECT_EQ(acc["trace"][0]["direction"], "push");
  EXPECT_EQ(acc["trace"][0]["active"], 1);
  std::uint64_t active = 0, pulls = 0;
  double seconds = 0;
  for (const auto& round : acc["trace"]) {
    EXPECT_GE(round["seconds"], 0.0);
    seconds += round["seconds"].get<double>();
    active += round["active"].get<std::uint64_t>();
    pulls += round["direction"] == "pull";
  }
  EXPECT_GT(seconds, 0.0);
  EXPECT_LE(seconds, json["seconds"]["compute"].get<double>());
  EXPECT_EQ(json["reached"], active);
  EXPECT_EQ(acc["pulls"], pulls);
  EXPECT_GT(pulls, 0u);
  for (const auto& round : acc["trace"]) EXPECT_EQ(round["filter"], "none");  // only GPUs have filters
  EXPECT_NE(finished.err.find("vertices reached"), std::string::npos);
}

TEST_F(AccCli, GivesTheSameFileForAnyThreadsAndDirection) {
  const std::string file = graph("rmat", 11, {"--reverse", "--weights", "uniform"});
  const auto same = [&](std::vector<std::string> words, std::vector<std::string> other) {
    other.insert(other.begin(), words.begin(), words.end());
    words.insert(words.end(), {"--threads", "1", "--force", "--output", at("one.h5")});
    other.insert(other.end(), {"--threads", "4", "--force", "--output", at("four.h5")});
    run(words);
    run(other);
    EXPECT_EQ(read_file(at("one.h5")), read_file(at("four.h5")));
  };
  same({"bfs", file, "--source", "0"}, {"--direction", "push"});
  same({"bfs", file, "--source", "0"}, {"--direction", "pull"});
  same({"sssp", file, "--source", "0"}, {"--delta", "0.01"});
  same({"kcore", file}, {"--direction", "pull"});
  same({"kcore", file, "--k", "16"}, {"--direction", "auto"});
  for (const char* direction : {"pull", "auto"})
    same({"sssp", graph(), "--source", "0"}, {"--direction", direction});
  same({"wcc", file}, {});
}

TEST_F(AccCli, PlansWithoutRunning) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bfs", graph(), "--source", "0"},
                                             {"sssp", graph(), "--source", "0"},
                                             {"kcore", graph()},
                                             {"wcc", graph()}}) {
    auto plan = words;
    plan.insert(plan.end(), {"--plan"});
    EXPECT_NE(run(plan).out.find("vertex states"), std::string::npos);
    auto small = words;
    small.insert(small.end(), {"--device", "host", "--device-memory", "512B", "--output", at("r.h5")});
    refuse(4, "device memory", small);
  }
}

TEST_F(AccCli, RefusesWhatHasNoMeaning) {
  const std::string file = graph("ring", 4, {});
  const auto refused = [&](const std::string& command, const std::string& words,
                           std::vector<std::string> more) {
    std::vector<std::string> arguments{command, file, "--output", at("r.h5"), "--device", "host"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuse(2, words, arguments);
    arguments.emplace_back("--plan");
    refuse(2, words, arguments);
  };
  refused("bfs", "--source V is missing", {});
  refused("bfs", "--source: the graph has no vertex 16", {"--source", "16"});
  refused("bfs", "--source", {"--source", "-1"});
  refused("bfs", "--direction", {"--source", "0", "--direction", "sideways"});
  refused("bfs", "--filter", {"--source", "0", "--filter", "ballot"});
  refused("sssp", "--fusion", {"--source", "0", "--fusion", "all"});
  refused("sssp", "--direction pull: the graph has no in-edges (omit it",
          {"--source", "0", "--direction", "pull"});
  refused("sssp", "--source V is missing", {});
  refused("sssp", "--delta", {"--source", "0", "--delta", "0"});
  refused("sssp", "--delta", {"--source", "0", "--delta", "nan"});
  refused("kcore", "--k", {"--k", "0"});
  refused("wcc", "--filter", {"--filter", "jit"});
  refused("wcc", "--instance-range", {"--instance-range", "0:1"});
}

TEST_F(AccCli, PullsLevelsOfAWholeGraphAndOfPartitions) {
  const std::vector<std::string> job{graph("kronecker", 12), "--device", "host", "--direction", "pull"};
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"sssp", "--source", "0"}, {"kcore"}}) {
    auto words = command;
    words.insert(words.begin() + 1, job.begin(), job.end());
    words.insert(words.end(), {"--force", "--output", at("r.h5"), "--report", at("report.json")});
    const auto pulls = [&] {
      run(words);
      const auto acc = report()["acc"];
      EXPECT_EQ(acc["pulls"], acc["rounds"]);
      EXPECT_EQ(acc["trace"][0]["direction"], "pull");
      return read_file(at("r.h5"));
    };
    const std::string whole = pulls();
    words.insert(words.end(), {"--partitions", "2"});
    EXPECT_EQ(pulls(), whole);
  }
}

TEST_F(AccCli, HelpsWithEveryCommand) {
  for (const char* command : {"bfs", "sssp", "kcore", "wcc", "bp"}) {
    const auto help = run({command, "--help"}).out;
    EXPECT_NE(help.find("Example:"), std::string::npos);
    EXPECT_NE(help.find("--verify"), std::string::npos);
    EXPECT_EQ(help.find("--walks-per-vertex"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::test
