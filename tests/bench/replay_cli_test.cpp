// sluice-bench replay: its table, its report, and its refusals.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "bench/bench.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class RankReplayCli : public BenchTest {
 protected:
  /// 2000 edges among 200 vertices, with unsorted times and a self-loop.
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
    std::vector<std::string> arguments{"replay",   temporal(),        "--batch-fraction", "5e-3",
                                       "--report", at("report.json"), "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    error_ = run_bench(arguments).err;
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  std::string error_;
};

/// Four of five lines of a batch insert edges, the others delete stored edges; `pagerank` reads these files.
TEST_F(RankReplayCli, DrawsBatchesThatPageRankReads) {
  const std::string g = graph("kronecker", 8, {"--reverse", "--weights", "uniform"});
  run({"pagerank", g, "--device", "host", "--output", at("old.h5")});
  const auto draw = [&](const std::string& seed, const std::string& to) {
    return run_bench({"batch", g, "--fraction", "0.01", "--seed", seed, "--insert", at("new" + to),
                      "--delete", at("gone" + to)})
        .err;
  };
  const std::string said = draw("1", "1");
  draw("1", "2"), draw("2", "3");
  EXPECT_EQ(read_file(at("new1")), read_file(at("new2")));
  EXPECT_NE(read_file(at("new1")), read_file(at("new3")));

  const auto counted =
      run({"pagerank", g, "--device", "host", "--insert", at("new1"), "--delete", at("gone1"), "--method",
           "dfp", "--previous", at("old.h5"), "--output", at("ranks.h5"), "--verify"})
          .err;
  const auto lines_of = [&](const char* file) {
    const std::string text = read_file(at(file));
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto inserted = lines_of("new1"), deleted = lines_of("gone1");
  EXPECT_GT(deleted, 4);
  EXPECT_NEAR(static_cast<double>(inserted) / static_cast<double>(deleted), 4, 0.5);
  EXPECT_NE(said.find(fmt::format("{} edges to insert, {} to delete", inserted, deleted)), std::string::npos)
      << said;
  EXPECT_NE(counted.find(", 0 did not exist"), std::string::npos)
      << "deletions are of stored edges: " << counted;

  refuse_bench(2, "--fraction", {"batch", g, "--fraction", "0", "--insert", at("a"), "--delete", at("b")});
  refuse_bench(2, "the files to write", {"batch", g, "--insert", at("a")});
  EXPECT_FALSE(std::filesystem::exists(at("a")));
}

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

/// The figures that do not differ between runs.
nlohmann::json lasting(nlohmann::json report) {
  nlohmann::json batches = report["batches"];
  for (auto& batch : batches) {
    batch.erase("update_seconds"), batch.erase("device_update_seconds");
    for (auto& method : batch["methods"]) method.erase("seconds");
  }
  return {report["vertices"], report["temporal_edges"], report["self_loops_dropped"], batches};
}

TEST_F(RankReplayCli, IsTheSameWhereverTheGraphIs) {
  // There are more batches than a file is read through.
  const std::vector<std::string> rules{"--batches", "20", "--device", "host", "--threads", "1", "--verify"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), rules.begin(), rules.end());
    return lasting(replay(more));
  };
  const auto expected = with({});

  EXPECT_EQ(with({"--transport", "file", "--scratch", at("")}), expected);
  EXPECT_EQ(with({"--transport", "file", "--partitions", "4", "--slots", "2"}), expected);
  EXPECT_EQ(with({"--partitions", "4", "--slots", "2"}), expected);
}

TEST_F(RankReplayCli, LeavesInFilesWhatExceedsMemory) {
  std::ofstream file(at("many.txt"));
  std::mt19937_64 random(7);
  for (int i = 0; i < 400000; ++i) {
    const auto near = random() % 20000;
    file << near << ' ' << near * (random() % 20000) / 20000 << ' ' << random() % 100000 << '\n';
  }
  file.close();
  const auto run_with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"replay",   at("many.txt"),    "--method", "dfp",       "--batches",
                                       "2",        "--device",        "host",     "--threads", "2",
                                       "--report", at("report.json"), "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_bench(arguments);
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  };
  const auto whole = run_with({});

  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--transport", "file"}}) {
    auto tight = more;
    tight.insert(tight.end(), {"--host-memory", "33MiB", "--quiet"});
    const auto report = run_with(tight);
    EXPECT_EQ(lasting(report), lasting(whole));
    EXPECT_LE(report["peak_host_bytes"], 33u << 20);
  }
  EXPECT_GT(whole["peak_host_bytes"], 33u << 20);
}

TEST_F(RankReplayCli, PlansWithoutRunning) {
  const std::string edges = temporal();
  const auto planned = run_bench({"replay", edges, "--plan", "--report", at("none.json")});

  EXPECT_NE(planned.out.find("host memory"), std::string::npos) << planned.out;
  EXPECT_FALSE(std::filesystem::exists(at("none.json")));
  const auto little = bench({"replay", edges, "--plan", "--device", "host", "--device-memory", "1KiB"});
  EXPECT_EQ(little.status, 4) << little.out;
  EXPECT_NE(little.err.find("raise --device-memory or --host-memory"), std::string::npos) << little.err;
  refuse_bench(4, "host memory", {"replay", edges, "--quiet", "--host-memory", "100KiB"});
}

TEST_F(RankReplayCli, KeepsTheOrderOfTimesAndLeavesOutUnusedIds) {
  // Wide ids, negative times, and edges of one time, which keep the order of the file.
  std::ofstream(at("wide.txt")) << "7000000000 5 3\n5 90000000000 -4\n5 5 0\n90000000000 7000000000 3\n";
  std::ofstream(at("narrow.txt")) << "1 0 30\n0 2 10\n0 0 7\n2 1 30\n";
  const auto one_by_one = [&](const char* name) {
    run_bench({"replay", at(name), "--initial", "0", "--batch-fraction", "0.3", "--report", at("report.json"),
               "--force", "--device", "host"});
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return lasting(json);
  };
  const auto wide = one_by_one("wide.txt");

  EXPECT_EQ(wide[0], 3);
  EXPECT_EQ(wide[1], 3);
  EXPECT_EQ(wide[2], 1);
  EXPECT_EQ(wide, one_by_one("narrow.txt"));
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

  refuse_bench(2, "EDGES is required", {"replay"});
  refuse_bench(2, "unknown option --output", {"replay", edges, "--output", at("x.h5")});
  refuse_bench(2, "--initial: must be between 0 and 1", {"replay", edges, "--initial", "1.5"});
  refuse_bench(2, "--batch-fraction: must be above 0", {"replay", edges, "--batch-fraction", "0"});
  refuse_bench(2, "--affect-all does not apply with --method df",
               {"replay", edges, "--method", "df", "--affect-all", "never"});
  refuse_bench(2, "--frontier-tolerance does not apply with --method nd",
               {"replay", edges, "--method", "nd", "--frontier-tolerance", "1e-5"});
  refuse_bench(3, "timeless.txt:1:", {"replay", at("timeless.txt")});
  refuse_bench(3, "absent.txt", {"replay", at("absent.txt")});
}

/// Processes of machines that share the folder may have the same id.
TEST_F(RankReplayCli, ScratchFoldersNameTheMachine) {
  std::filesystem::create_directory(at("scratch"));
  Process process({paths::kBench, "replay", temporal(), "--batch-fraction", "5e-3", "--transport", "file",
                   "--scratch", at("scratch"), "--quiet"});
  std::string name;
  ASSERT_TRUE(process.reaches([&] {
    for (const auto& entry : std::filesystem::directory_iterator(at("scratch")))
      name = entry.path().filename();
    return name.ends_with(".ranks");
  }));
  EXPECT_EQ(process.wait().status, 0);

  char machine[256] = {};
  ASSERT_EQ(gethostname(machine, sizeof machine - 1), 0);
  EXPECT_TRUE(name.starts_with("sluice.partial-" + std::string(machine) + "-")) << name;
  EXPECT_TRUE(std::filesystem::is_empty(at("scratch")));
}

}  // namespace
}  // namespace sluice::test
