// sluice bfs, sssp, kcore, wcc, bp: what they write, say and refuse.
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.hpp"

namespace sluice::test {
namespace {

class AccCli : public CliTest {
 protected:
  /// Two triangles that share a vertex, an edge with a vertex hanging on it, and a pair apart; ids with gaps.
  std::string small(const std::vector<std::string>& more = {}) {
    std::ofstream(at("edges.txt"))
        << "10 20 1\n20 30 1\n10 30 5\n30 40 0\n40 50 2\n30 50 1\n50 90 4\n700 800 1\n";
    std::vector<std::string> words{"convert", at("edges.txt"), at("small.h5"), "--weights",
                                   "column",  "--quiet",       "--force"};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return at("small.h5");
  }

  std::string text(std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "text", "--output", "-", "--quiet", "--verify"});
    return run(words).out;
  }

  nlohmann::json report() {
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  /// bp of two states on graph(), on the host.
  std::vector<std::string> bp(const std::string& output, const std::vector<std::string>& more) {
    std::ofstream(at("coupling.txt")) << "1 2\n2 1\n";
    std::ofstream priors(at("priors.txt"));
    for (int v = 0; v < 256; ++v) priors << 1 + v % 5 << " 2\n";
    std::vector<std::string> words{
        "bp",       graph(),          "--device", "host",    "--force", "--coupling", at("coupling.txt"),
        "--priors", at("priors.txt"), "--output", at(output)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

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
  EXPECT_LT(numbers[0], 0.25);                // its neighbours lean as it does
  EXPECT_NEAR(numbers[12], 18.0 / 19, 1e-6);  // (2 x 0.9) : (1 x 0.1), by the neighbour that is certain
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
  refused("c.txt:2: a coupling has as many rows as columns", "1 2\n3\n", "");
  refused("c.txt: 1 rows of 2", "1 2\n", "");
  refused("c.txt: every entry is zero", "0 0\n0 0\n", "");
  refused("p.txt:2: '1x'", "", "1 2\n1x 1\n");
  refused("p.txt:2: 3 columns", "", "1 2\n1 1 1\n");
  refused("p.txt:1: a prior that is zero", "", "0 0\n");
  refused("p.txt: 2 rows for 4", "", "1 2\n1 1\n");
  refused("p.txt:5: a row too many", "", "1 2\n1 1\n1 1\n1 1\n1 1\n");
  const std::vector<std::string> good{"--coupling",     at("good.txt"), "--priors",
                                      at("priors.txt"), "--output",     at("b.h5")};
  const auto misused = [&](const std::string& words, std::vector<std::string> more) {
    more.insert(more.end(), good.begin(), good.end());
    refuse(2, words, more);
  };
  misused("--message-damping", {"bp", file, "--message-damping", "1"});
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

/// Messages stay in host memory, whatever the slots of partitions take.
TEST_F(AccCli, BpSaysWhatItsMessagesTake) {
  run(bp("whole.h5", {"--verify"}));
  run(bp("parts.h5", {"--partitions", "7", "--slots", "2", "--transport", "copied", "--verify"}));
  run(bp("file.h5", {"--partitions", "64", "--transport", "file", "--verify"}));
  run(bp("small.h5", {"--device-memory", "40KiB"}));

  EXPECT_TRUE(read_bytes(at("parts.h5")) == read_bytes(at("whole.h5")));
  EXPECT_TRUE(read_bytes(at("file.h5")) == read_bytes(at("whole.h5")));
  EXPECT_TRUE(read_bytes(at("small.h5")) == read_bytes(at("whole.h5")));
  const auto plan = run(bp("x.h5", {"--partitions", "7", "--plan"}));
  EXPECT_NE(plan.out.find("  messages of edges"), std::string::npos) << plan.out;
  refuse(4, "are left (raise --host-memory, name a folder by --scratch, or use more ranks)",
         bp("x.h5", {"--partitions", "7", "--host-memory", "100KiB"}));
  EXPECT_FALSE(std::filesystem::exists(at("x.h5")));
}

/// As many slots as were asked for, of partitions that the budget, not --partitions, asks for.
TEST_F(AccCli, BpTakesSlotsWithoutPartitions) {
  run(bp("whole.h5", {}));
  for (const char* transport : {"copied", "file"}) {
    SCOPED_TRACE(transport);
    std::vector<std::uint64_t> transfers;
    for (const char* slots : {"2", "3"}) {
      const auto finished =
          run(bp("slots.h5", {"--slots", slots, "--transport", transport, "--report", at("report.json")}));

      EXPECT_TRUE(read_bytes(at("slots.h5")) == read_bytes(at("whole.h5")));
      EXPECT_EQ(report()["partitions"], 3);
      EXPECT_EQ(finished.err.find("--slots"), std::string::npos) << finished.err;
      transfers.push_back(report()["partition_transfers"]);
    }
    EXPECT_GT(transfers[0], 3u);  // two of three are there at once, so that some come again
    EXPECT_EQ(transfers[1], 3u);
  }
}

TEST_F(AccCli, BpLeavesMessagesInScratchFiles) {
  const std::string folder = at("scratch");
  std::filesystem::create_directory(folder);
  run(bp("whole.h5", {}));
  const std::uint64_t edges = read_numbers(graph(), "out/indices").size(), messages = edges * (2 * 2 * 8 + 8);
  for (const char* transport : {"copied", "file"}) {
    SCOPED_TRACE(transport);
    std::vector<std::string> words{"--partitions",  "7",      "--transport", transport,
                                   "--host-memory", "300KiB", "--scratch",   folder};
    const auto plan = run(bp("x.h5", {"--partitions", "7", "--transport", transport, "--host-memory",
                                      "300KiB", "--scratch", folder, "--plan"}));
    EXPECT_NE(plan.out.find("in --scratch, at most"), std::string::npos) << plan.out;
    words.insert(words.end(), {"--report", at("report.json"), "--verify"});

    run(bp("scratch.h5", words));

    EXPECT_TRUE(read_bytes(at("scratch.h5")) == read_bytes(at("whole.h5")));
    EXPECT_EQ(report()["scratch_bytes"], messages);
    EXPECT_LE(report()["peak_host_bytes"], 300 << 10);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  run(bp("scratch.h5", {"--partitions", "7", "--scratch", folder, "--report", at("report.json")}));
  EXPECT_EQ(report()["scratch_bytes"], 0);  // memory holds them
}

/// A graph that fits is worked on whole, which is no fault of who asked for slots.
TEST_F(AccCli, TellsThatSlotsChangeNothing) {
  const std::string idle =
      "--slots 2 changes nothing, for the graph is worked on whole (ask for --partitions)";
  std::ofstream(at("seeds.txt")) << "3\n";
  const auto count = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), {"--slots", "2"});
    words.insert(words.end(), more.begin(), more.end());
    const std::string err = run(words).err;
    std::size_t times = 0;
    for (std::size_t i = 0; (i = err.find(idle, i)) != std::string::npos; ++i) ++times;
    return times;
  };
  const auto on_host = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--device", "host", "--force", "--output", at("r.h5")});
    return words;
  };
  for (const auto& words : {on_host({"bfs", graph(), "--source", "1"}),
                            on_host({"sssp", graph(), "--source", "1"}), on_host({"kcore", graph()}),
                            on_host({"wcc", graph()}), bp("r.h5", {}), on_host({"pagerank", graph()}),
                            on_host({"ppr", graph(), "--starts", at("seeds.txt"), "--length", "3"}),
                            on_host({"walk", graph(), "--kind", "uniform", "--instances", "5"})}) {
    SCOPED_TRACE(words[0]);
    EXPECT_EQ(count(words, {}), 1u);
    EXPECT_EQ(count(words, {"--plan"}), 1u);
    EXPECT_EQ(count(words, {"--quiet"}), 0u);
    EXPECT_EQ(count(words, {"--partitions", "5"}), 0u);
    EXPECT_EQ(count(words, {"--partitions", "5", "--plan"}), 0u);
  }
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
  for (const auto& round : acc["trace"]) EXPECT_EQ(round["filter"], "none");  // a GPU's
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
    EXPECT_EQ(read_bytes(at("one.h5")), read_bytes(at("four.h5")));
  };
  same({"bfs", file, "--source", "0"}, {"--direction", "push"});
  same({"bfs", file, "--source", "0"}, {"--direction", "pull"});
  same({"sssp", file, "--source", "0"}, {"--delta", "0.01"});
  same({"kcore", file}, {});
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
  };
  refused("bfs", "--source V is missing", {});
  refused("bfs", "--source: the graph has no vertex 16", {"--source", "16"});
  refused("bfs", "--source", {"--source", "-1"});
  refused("bfs", "--direction", {"--source", "0", "--direction", "sideways"});
  refused("bfs", "--filter", {"--source", "0", "--filter", "ballot"});
  refused("sssp", "--fusion", {"--source", "0", "--fusion", "all"});
  refused("sssp", "--source V is missing", {});
  refused("sssp", "--delta", {"--source", "0", "--delta", "0"});
  refused("sssp", "--delta", {"--source", "0", "--delta", "nan"});
  refused("kcore", "--k", {"--k", "0"});
  refused("kcore", "which does not store in-edges", {"--transport", "file", "--verify"});
  refused("wcc", "--filter", {"--filter", "jit"});
  refused("wcc", "--schedule", {"--schedule", "fifo"});
  refused("wcc", "--instance-range", {"--instance-range", "0:1"});
}

TEST_F(AccCli, SaysWhereAGraphDoesNotFit) {
  refuse(
      4, "--host-memory",
      {"wcc", graph("kronecker", 12), "--device", "host", "--host-memory", "64KiB", "--output", at("r.h5")});
}

TEST_F(AccCli, GivesTheSameFileInPartitions) {
  const std::string directed = graph("rmat", 11, {"--reverse", "--weights", "uniform"}), small_ids = small();
  const auto same = [&](const std::string& file, std::vector<std::string> words) {
    words.insert(words.begin() + 1, {file, "--device", "host", "--force", "--output"});
    const auto words_to = [&](const std::string& output, const std::vector<std::string>& more) {
      auto all = words;
      all.insert(all.begin() + 6, at(output));
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    run(words_to("whole.h5", {}));
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"--partitions", "7", "--slots", "2", "--verify"}, {"--transport", "file", "--verify"}}) {
      auto asked = more;
      // In a file a check of cores wants in-edges.
      if (words[0] == "kcore" && more[0] == "--transport" && file == small_ids) asked.pop_back();
      run(words_to("parts.h5", asked));
      EXPECT_EQ(read_bytes(at("whole.h5")), read_bytes(at("parts.h5"))) << words[0] << more[0];
    }
  };
  for (const std::string& file : {directed, small_ids}) {
    same(file, {"bfs", "--source", "1"});
    same(file, {"sssp", "--source", "1"});
    same(file, {"kcore"});
    same(file, {"wcc"});
  }
}

TEST_F(AccCli, StaysInItsFileWhereItDoesNotFit) {
  const std::string file = graph("kronecker", 14, {"--undirected"});
  const auto searched = [&](const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> words{"bfs", file, "--source", "1", "--device", "host", "--output", at(output)};
    words.insert(words.end(), {"--report", at("report.json"), "--force"});
    words.insert(words.end(), more.begin(), more.end());
    run(words);
  };

  searched("whole.h5", {});
  EXPECT_EQ(report()["partition_transfers"], 0);
  searched("file.h5", {"--host-memory", "1500KiB", "--verify"});

  EXPECT_EQ(read_bytes(at("whole.h5")), read_bytes(at("file.h5")));
  EXPECT_GT(report()["partitions"], 1);
  EXPECT_GT(report()["partition_transfers"], 1);
  EXPECT_GT(report()["bytes"]["read"], 1 << 20);
  EXPECT_LE(report()["peak_host_bytes"], 1500 << 10);
  searched("slots.h5", {"--device-memory", "600KiB"});
  EXPECT_EQ(read_bytes(at("whole.h5")), read_bytes(at("slots.h5")));
  EXPECT_GT(report()["partition_transfers"], 1);
  EXPECT_LE(report()["peak_device_bytes"], 600 << 10);
  EXPECT_NE(run({"bfs", file, "--source", "1", "--device", "host", "--host-memory", "1500KiB", "--plan"})
                .out.find("partitions"),
            std::string::npos);
}

/// In partitions and from the file a search takes the same rounds as in memory, and looks at the same edges.
TEST_F(AccCli, PullsWhereverTheListsAre) {
  const std::string kronecker = graph("kronecker", 12), both_stored = graph("rmat", 11, {"--reverse"}),
                    out_alone = graph("rmat", 10, {});
  const auto searched = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "bfs", file,       "--source",        "1",        "--device",  "host", "--force", "--threads",
        "2",   "--report", at("report.json"), "--output", at("bfs.h5")};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    auto json = report();
    for (auto& round : json["acc"]["trace"]) round.erase("seconds");
    return json;
  };
  for (const std::string& file : {kronecker, both_stored}) {
    const auto whole = searched(file, {})["acc"], pushed = searched(file, {"--direction", "push"})["acc"];
    const std::string expected = read_bytes(at("bfs.h5"));
    EXPECT_GT(whole["pulls"], 0u);
    EXPECT_LT(whole["edges"], pushed["edges"]);
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"--partitions", "7", "--slots", "3", "--verify"}, {"--transport", "file", "--verify"}}) {
      const auto json = searched(file, more);
      EXPECT_EQ(read_bytes(at("bfs.h5")), expected);
      EXPECT_EQ(json["acc"]["trace"], whole["trace"]);
      EXPECT_EQ(json["acc"]["edges"], whole["edges"]);
      EXPECT_GT(json["partition_transfers"], 0);
      for (const char* direction : {"push", "pull"}) {
        auto forced = more;
        forced.insert(forced.end(), {"--direction", direction});
        const auto rounds = searched(file, forced)["acc"];
        EXPECT_EQ(read_bytes(at("bfs.h5")), expected);
        EXPECT_EQ(rounds["pulls"], direction[2] == 'l' ? rounds["rounds"] : nlohmann::json(0));
      }
    }
  }
  const auto pushed = searched(out_alone, {"--partitions", "7", "--direction", "pull"})["acc"];
  EXPECT_EQ(pushed["pulls"], 0);
  EXPECT_EQ(pushed["trace"][1]["direction"], "push");
  EXPECT_EQ(pushed["trace"][1]["filter"], "none");
}

/// Where memory has no room for the lists in both directions, a search pushes as it did without in-edges.
TEST_F(AccCli, PushesWhereThereIsNoRoomForInEdges) {
  const std::string file = graph("rmat", 14, {"--reverse"});
  const auto searched = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "bfs", file,       "--source",        "1",        "--device",  "host", "--force", "--threads",
        "1",   "--report", at("report.json"), "--output", at("bfs.h5")};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return report();
  };
  const auto whole = searched({});
  const std::string expected = read_bytes(at("bfs.h5"));
  EXPECT_GT(whole["acc"]["pulls"], 0);

  const auto tight = searched({"--host-memory", "2500KiB"});

  EXPECT_EQ(read_bytes(at("bfs.h5")), expected);
  EXPECT_EQ(tight["acc"]["pulls"], 0);
  EXPECT_EQ(tight["partition_transfers"], 0);  // the out-lists are all in memory
  EXPECT_LE(tight["peak_host_bytes"], 2500 << 10);
  // Two slots of one direction, but not of both.
  const auto slots = searched({"--partitions", "4", "--device-memory", "900KiB"});
  EXPECT_EQ(read_bytes(at("bfs.h5")), expected);
  EXPECT_EQ(slots["acc"]["pulls"], 0);
  EXPECT_GT(slots["partition_transfers"], 0);
  EXPECT_LE(slots["peak_device_bytes"], 900 << 10);
}

/// Directed, and undirected with loops: their simple undirected form does not fit either.
TEST_F(AccCli, KcoreLeavesTheUndirectedFormInAScratchFile) {
  const std::string folder = at("scratch");
  std::filesystem::create_directory(folder);
  std::ofstream edges(at("edges.txt"));
  std::uint64_t state = 7;
  for (int i = 0; i < 400'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto u = (state >> 33) % 1000, v = (state >> 50) % 1000;
    edges << u << ' ' << v / (1 + u % 3) << '\n';
  }
  edges.close();
  for (const char* how : {"--none", "--reverse", "--undirected"}) {
    SCOPED_TRACE(how);
    const std::string file = at("dense.h5");
    std::vector<std::string> convert{"convert",           at("edges.txt"), file,
                                     "--keep-self-loops", "--quiet",       "--force"};
    if (how[2] != 'n') convert.push_back(how);
    run(convert);
    const bool in = how == std::string("--reverse"), checked = how[2] != 'n';
    const std::string quarter =
        std::to_string((in ? 2 : 1) * (read_numbers(file, "out/indices").size() * 4 + 1001 * 8) / 4) + "B";
    const auto cores = [&](const std::string& output, const std::vector<std::string>& more) {
      std::vector<std::string> words{"kcore", file, "--device", "host", "--force", "--output", at(output)};
      words.insert(words.end(), {"--report", at("report.json")});
      words.insert(words.end(), more.begin(), more.end());
      return run(words).out;
    };
    cores("whole.h5", {});
    EXPECT_EQ(report()["scratch_bytes"], 0);

    const std::string plan = cores("plan.h5", {"--host-memory", quarter, "--scratch", folder, "--plan"});
    cores("scratch.h5", {"--host-memory", quarter, "--scratch", folder, checked ? "--verify" : "--quiet"});

    EXPECT_NE(plan.find("in --scratch, at most"), std::string::npos) << plan;
    EXPECT_TRUE(read_bytes(at("whole.h5")) == read_bytes(at("scratch.h5")));
    EXPECT_GT(report()["scratch_bytes"], 0);
    EXPECT_GT(report()["partitions"], 1);
    EXPECT_LE(report()["peak_host_bytes"], std::stoull(quarter));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    cores("beside.h5", {"--transport", "file"});  // without a folder's name
    EXPECT_TRUE(read_bytes(at("whole.h5")) == read_bytes(at("beside.h5")));
    EXPECT_GT(report()["scratch_bytes"], 0);
  }
  refuse(2, "--scratch", {"kcore", graph(), "--output", at("r.h5"), "--scratch", at("absent")});
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
