// sluice bfs, sssp, kcore, wcc and bp with edges or messages in partitions, in the graph file or in scratch
// files.
#include "cli/acc_cli.hpp"

namespace sluice::test {
namespace {

/// The budget, not --partitions, divides the graph; --slots then sets the number of slots.
TEST_F(AccCli, BpTakesSlotsWithoutPartitions) {
  run(bp("whole.h5", {}));
  for (const char* transport : {"copied", "file"}) {
    SCOPED_TRACE(transport);
    std::vector<std::uint64_t> transfers;
    for (const char* slots : {"2", "3"}) {
      const auto finished =
          run(bp("slots.h5", {"--slots", slots, "--transport", transport, "--report", at("report.json")}));

      EXPECT_TRUE(read_file(at("slots.h5")) == read_file(at("whole.h5")));
      EXPECT_EQ(report()["partitions"], 3);
      EXPECT_EQ(finished.err.find("--slots"), std::string::npos) << finished.err;
      transfers.push_back(report()["partition_transfers"]);
    }
    EXPECT_GT(transfers[0], 3u);  // two slots for three partitions: some are copied again
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

    EXPECT_TRUE(read_file(at("scratch.h5")) == read_file(at("whole.h5")));
    EXPECT_EQ(report()["scratch_bytes"], messages);
    EXPECT_LE(report()["peak_host_bytes"], 300 << 10);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  run(bp("scratch.h5", {"--partitions", "7", "--scratch", folder, "--report", at("report.json")}));
  EXPECT_EQ(report()["scratch_bytes"], 0);  // memory holds the messages
}

/// A graph that fits is processed whole. Unused slots are reported, but are no error.
TEST_F(AccCli, TellsThatSlotsChangeNothing) {
  const std::string idle = "--slots 2 has no effect: the graph is processed whole (use --partitions)";
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
      run(words_to("parts.h5", more));
      EXPECT_EQ(read_file(at("whole.h5")), read_file(at("parts.h5"))) << words[0] << more[0];
    }
  };
  for (const std::string& file : {directed, small_ids}) {
    same(file, {"bfs", "--source", "1"});
    same(file, {"sssp", "--source", "1"});
    same(file, {"wcc"});
  }
  same(graph("rmat", 10, {"--undirected"}), {"kcore"});
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

  EXPECT_EQ(read_file(at("whole.h5")), read_file(at("file.h5")));
  EXPECT_GT(report()["partitions"], 1);
  EXPECT_GT(report()["partition_transfers"], 1);
  EXPECT_GT(report()["bytes"]["read"], 1 << 20);
  EXPECT_LE(report()["peak_host_bytes"], 1500 << 10);
  searched("slots.h5", {"--device-memory", "600KiB", "--transport", "copied"});
  EXPECT_EQ(read_file(at("whole.h5")), read_file(at("slots.h5")));
  EXPECT_GT(report()["partition_transfers"], 1);
  EXPECT_LE(report()["peak_device_bytes"], 600 << 10);
  searched("in_place.h5", {"--device-memory", "600KiB"});
  EXPECT_EQ(read_file(at("whole.h5")), read_file(at("in_place.h5")));
  EXPECT_GT(report()["partitions"], 1);
  EXPECT_EQ(report()["partition_transfers"], 0) << "slots would be host memory as well";
  EXPECT_LE(report()["peak_device_bytes"], 600 << 10);
  EXPECT_NE(run({"bfs", file, "--source", "1", "--device", "host", "--host-memory", "1500KiB", "--plan"})
                .out.find("partitions"),
            std::string::npos);
}

/// A search in partitions or from the file makes the rounds of one in memory, and reads the same edges.
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
    const std::string expected = read_file(at("bfs.h5"));
    EXPECT_GT(whole["pulls"], 0u);
    EXPECT_LT(whole["edges"], pushed["edges"]);
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"--partitions", "7", "--slots", "3", "--verify"}, {"--transport", "file", "--verify"}}) {
      const auto json = searched(file, more);
      EXPECT_EQ(read_file(at("bfs.h5")), expected);
      EXPECT_EQ(json["acc"]["trace"], whole["trace"]);
      EXPECT_EQ(json["acc"]["edges"], whole["edges"]);
      EXPECT_GT(json["partition_transfers"], 0);
      for (const char* direction : {"push", "pull"}) {
        auto forced = more;
        forced.insert(forced.end(), {"--direction", direction});
        const auto rounds = searched(file, forced)["acc"];
        EXPECT_EQ(read_file(at("bfs.h5")), expected);
        EXPECT_EQ(rounds["pulls"], direction[2] == 'l' ? rounds["rounds"] : nlohmann::json(0));
      }
    }
  }
  const auto pushed = searched(out_alone, {"--partitions", "7"})["acc"];
  EXPECT_EQ(pushed["pulls"], 0);
  EXPECT_EQ(pushed["trace"][1]["direction"], "push");
  EXPECT_EQ(pushed["trace"][1]["filter"], "none");
  for (const char* command : {"bfs", "sssp"})
    refuse(2, "--direction pull",
           {command, out_alone, "--source", "1", "--direction", "pull", "--device", "host", "--output",
            at("r.h5")});
}

/// Shortest paths and cores pull as a search does.
TEST_F(AccCli, PullsPathsAndCoresWhereverTheListsAre) {
  const std::string kronecker = graph("kronecker", 10), both_stored = graph("rmat", 10, {"--reverse"});
  const auto solved = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), {"--device", "host", "--force", "--threads", "2", "--report", at("report.json"),
                               "--output", at("r.h5")});
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return report()["acc"];
  };
  const std::vector<std::vector<std::string>> programs{{"sssp", kronecker, "--source", "1"},
                                                       {"sssp", both_stored, "--source", "1"},
                                                       {"kcore", kronecker},
                                                       {"kcore", kronecker, "--k", "16"}};
  for (const auto& program : programs) {
    EXPECT_EQ(solved(program, {})["pulls"], 0);
    const std::string expected = read_file(at("r.h5"));
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{"--verify"},
                                               {"--partitions", "7", "--slots", "3", "--verify"},
                                               {"--transport", "file", "--verify"}}) {
      for (const char* direction : {"auto", "pull"}) {
        auto words = more;
        words.insert(words.end(), {"--direction", direction});
        const auto rounds = solved(program, words);
        EXPECT_EQ(read_file(at("r.h5")), expected);
        if (direction[0] == 'p') {
          EXPECT_EQ(rounds["pulls"], rounds["rounds"]);
        }
      }
    }
  }
}

/// If memory cannot hold the lists in both directions, a search pushes as if there were no in-edges.
TEST_F(AccCli, PushesWhereInEdgesDoNotFit) {
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
  const std::string expected = read_file(at("bfs.h5"));
  EXPECT_GT(whole["acc"]["pulls"], 0);

  const auto tight = searched({"--host-memory", "2300KiB"});

  EXPECT_EQ(read_file(at("bfs.h5")), expected);
  EXPECT_EQ(tight["acc"]["pulls"], 0);
  EXPECT_EQ(tight["partition_transfers"], 0);  // memory holds all out-lists
  EXPECT_LE(tight["peak_host_bytes"], 2300 << 10);
  // Memory for two slots of one direction, but not of both.
  const auto slots = searched({"--partitions", "4", "--device-memory", "900KiB"});
  EXPECT_EQ(read_file(at("bfs.h5")), expected);
  EXPECT_EQ(slots["acc"]["pulls"], 0);
  EXPECT_GT(slots["partition_transfers"], 0);
  EXPECT_LE(slots["peak_device_bytes"], 900 << 10);
}

TEST_F(AccCli, KcoreOfADirectedGraphIsWholeInMemory) {
  const std::string directed = graph("rmat", 11, {"--reverse"});
  const auto refused = [&](int status, const std::vector<std::string>& more) {
    std::vector<std::string> words{"kcore", directed, "--device", "host", "--output", at("r.h5")};
    words.insert(words.end(), more.begin(), more.end());
    refuse(status, "sluice convert --undirected", words);
  };
  refused(2, {"--partitions", "7"});
  refused(2, {"--transport", "file"});
  refused(2, {"--transport", "file", "--plan"});
  refused(4, {"--device-memory", "4KiB"});
}

/// Lists in memory are made simple, lists in the file are not.
TEST_F(AccCli, KcoreOfAGraphWithLoopsIsInMemory) {
  std::ofstream(at("edges.txt")) << "0 1\n1 1\n1 2\n2 0\n2 3\n";
  run({"convert", at("edges.txt"), at("loops.h5"), "--undirected", "--keep-self-loops", "--quiet"});
  const auto cores = [&](const char* output, const std::vector<std::string>& more) {
    std::vector<std::string> words{"kcore", at("loops.h5"), "--device", "host", "--output", at(output)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  run(cores("whole.h5", {"--verify"}));
  run(cores("parts.h5", {"--partitions", "2", "--verify"}));
  EXPECT_EQ(read_file(at("whole.h5")), read_file(at("parts.h5")));
  refuse(2, "sluice convert --undirected", cores("file.h5", {"--transport", "file"}));
}

}  // namespace
}  // namespace sluice::test
