// No user file is lost, neither through a second name of the same file nor through a late failure.
#include <sys/mount.h>

#include "cli/cli.hpp"
#include "paths.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {
namespace {

class FileSafety : public CliTest {
 protected:
  std::vector<std::string> walk(const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> words{"walk", graph(), "--length", "3", "--output", output};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string written(const std::string& name, const std::string& bytes) {
    write_file(at(name), bytes);
    return at(name);
  }
};

TEST_F(FileSafety, NoOutputIsAnotherFileOfTheJob) {
  const std::string input = graph(), bytes = read_file(input), starts = written("starts.txt", "1\n");
  const std::string elsewhere = folder_.path().string() + "/./";
  std::filesystem::create_hard_link(starts, at("second.txt"));
  std::filesystem::create_symlink(input, at("link.h5"));
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--force"}}) {
    const auto refused = [&](const std::string& words, std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), more.begin(), more.end());
      refuse(2, words, arguments);
    };
    refused("--output: " + at("o.h5") + " is the file of --report (choose another name)",
            walk(at("o.h5"), {"--report", elsewhere + "o.h5"}));
    refused("--report: " + at("link.h5") + " is the file of GRAPH",
            walk(at("o.h5"), {"--report", at("link.h5")}));
    refused("--output: " + elsewhere + "starts.txt is the file of --starts",
            walk(elsewhere + "starts.txt", {"--starts", at("second.txt"), "--format", "text"}));
    refused("--report: " + starts + " is the file of --starts",
            walk(at("o.h5"), {"--starts", starts, "--report", starts}));
    refused("OUT: " + starts + " is the file of IN", {"convert", starts, starts});
    refused("OUT: " + at("o.h5") + " is the file of --report",
            {"convert", starts, at("o.h5"), "--report", elsewhere + "o.h5"});
    refused("--output: " + at("o.h5") + " is the file of --report",
            {"generate", "ring", "--output", at("o.h5"), "--report", elsewhere + "o.h5"});
    refused("--output: " + at("p.h5") + " is the file of --previous",
            {"pagerank", input, "--method", "nd", "--insert", starts, "--previous", elsewhere + "p.h5",
             "--output", at("p.h5")});
    refused("--report: " + at("c.txt") + " is the file of --coupling",
            {"bp", input, "--priors", starts, "--coupling", at("c.txt"), "--output", at("o.h5"), "--report",
             at("c.txt")});
  }
  EXPECT_TRUE(read_file(input) == bytes);
  EXPECT_EQ(read_file(starts), "1\n");
}

/// A folder of results is replaced as a whole.
TEST_F(FileSafety, NoOutputHoldsAnotherFileOfTheJob) {
  std::filesystem::create_directory(at("o.h5.shards"));
  const std::string input = at("o.h5.shards/graph.h5");
  std::filesystem::rename(graph(), input);
  const std::string bytes = read_file(input);

  refuse(2, "the shards of --output: " + at("o.h5.shards") + " holds the file of GRAPH",
         {"walk", input, "--output", at("o.h5"), "--output-layout", "sharded", "--force"});
  refuse(2, "--output: " + at("o.h5.shards/") + " holds the file of GRAPH",
         {"walk", input, "--output", at("o.h5.shards/"), "--format", "npy", "--force"});
  refuse(2, "--report: " + at("o.h5.shards") + " is the file of the shards of --output",
         walk(at("o.h5"), {"--output-layout", "sharded", "--report", at("o.h5.shards")}));
  EXPECT_TRUE(read_file(input) == bytes);
}

/// Edges are read after the output is opened; a fault in them leaves no file, like one that is found before.
TEST_F(FileSafety, AFaultInEdgesThatComeLateLeavesNothing) {
  const std::string path = graph("kronecker", 8, {"--undirected", "--weights", "uniform"});
  poke(path, dataset_offset(path, "/out/indices"), std::int32_t{-1});
  const std::string fault = "dataset /out/indices: position 0: target -1 is not a vertex";
  for (std::vector<std::string> job : {std::vector<std::string>{"walk", path},
                                       {"walk", path, "--kind", "biased", "--bias", "weight"},
                                       {"walk", path, "--kind", "multidimensional"},
                                       {"sample", path, "--kind", "neighbor", "--fanout", "2"},
                                       {"pagerank", path},
                                       {"bfs", path, "--source", "0"},
                                       {"wcc", path}}) {
    job.insert(job.end(), {"--output", at("o.h5"), "--report", at("r.json"), "--quiet"});
    refuse(3, fault, job);
    job.push_back("--verify");
    refuse(3, fault, job);
  }
}

/// JSON cannot hold a name that is not UTF-8.
TEST_F(FileSafety, NamesMayHoldAnyBytes) {
  const std::string odd = at("caf\xe9.h5"), starts = written("starts \xff.txt", "1\n"), shown = "caf\uFFFD";
  std::filesystem::rename(graph(), odd);
  const std::vector<std::string> words{"walk", odd, "--length", "3", "--starts", starts, "--verbose"};
  const auto walk_to = [&](const std::string& output, const std::vector<std::string>& more) {
    auto all = words;
    all.insert(all.end(), {"--output", output});
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  walk_to(at("o.h5"), {});
  walk_to(at("o \xfe.npy"), {"--format", "npy", "--report", at("r \xfd.json")});

  EXPECT_NE(read_file(at("r \xfd.json")).find(shown), std::string::npos);
  EXPECT_NE(run({"info", odd, "--json"}).out.find(shown), std::string::npos);
}

/// The graph file names its source, in UTF-8.
TEST_F(FileSafety, TextsOfFilesAreUtf8) {
  run({"convert", written("caf\xe9.txt", "0 1\n1 0\n"), at("g.h5"), "--report", at("r.json")});
  run({"walk", at("g.h5"), "--length", "1", "--output", at("o.h5")});

  const auto info = run({"info", at("g.h5")});
  EXPECT_NE(info.out.find("caf\uFFFD.txt"), std::string::npos) << info.out;
}

/// The updated graph appears together with its ranks or not at all, so a second attempt is not refused.
TEST_F(FileSafety, TheGraphOfABatchIsNotCommittedBeforeItsRanks) {
  const std::string batch = written("batch.txt", "1 2 0.5\n"), taken = written("taken.h5", "a user's file");
  const auto ranks = [&](const std::string& output) {
    return std::vector<std::string>{"pagerank", graph(),    "--insert", batch,    "--output-graph",
                                    at("g.h5"), "--output", output,     "--quiet"};
  };
  refuse(2, "taken.h5 exists", ranks(taken));
  refuse(1, "absent", ranks(at("absent/o.h5")));

  run(ranks(at("o.h5")));
  EXPECT_GT(read_numbers(at("g.h5"), "out/indices").size(), 0u);
  EXPECT_EQ(read_file(taken), "a user's file");
}

/// No file gets its name before all files are written.
TEST_F(FileSafety, AReportThatDoesNotFitTheDiskKeepsTheOutputBack) {
  const std::string disk = at("disk"), report = disk + "/r.json";
  const std::string input = graph(), batch = written("batch.txt", "1 2 0.5\n");
  std::filesystem::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=4k") != 0)
    GTEST_SKIP() << "no permission to mount a tmpfs";
  write_file(disk + "/full", std::string(4096, 'x'));
  const std::string message = report + ": the report cannot be written";

  refuse(1, message, walk(at("o.h5"), {"--report", report}));
  refuse(1, message, walk(at("o"), {"--report", report, "--format", "npy"}));
  refuse(1, message, walk(at("o.txt"), {"--report", report, "--format", "text"}));
  refuse(1, message, walk(at("o.h5"), {"--report", report, "--output-layout", "sharded"}));
  refuse(1, message,
         {"pagerank", input, "--insert", batch, "--output-graph", at("g.h5"), "--output", at("o.h5"),
          "--report", report, "--quiet"});
  refuse(1, message, {"convert", batch, at("g.h5"), "--report", report});
  umount2(disk.c_str(), MNT_DETACH);
}

/// The results and the seed of a file that shows shards.
std::pair<std::int64_t, std::vector<std::int64_t>> seed_and_walks(const std::string& path) {
  char* seed = nullptr;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "seed", H5P_DEFAULT), type = H5Aget_type(attribute);
  H5Aread(attribute, type, &seed);
  const std::int64_t number = std::stoll(seed);
  H5free_memory(seed);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
  return {number, read_numbers(path, "walks")};
}

/// The name shows the old results or the new ones at any moment; the job is killed at several.
TEST_F(FileSafety, AKilledJobLeavesTheNameWithShardsOfItsOwn) {
  const auto sharded = [&](const std::string& seed) {
    auto words = walk(at("o.h5"), {"--seed", seed, "--output-layout", "sharded", "--quiet"});
    if (seed != "1") words.push_back("--force");
    return words;
  };
  std::vector<std::int64_t> walks[3];
  for (const char* seed : {"1", "2"}) {
    run(walk(at("alone.h5"), {"--seed", seed, "--force"}));
    walks[std::stoi(seed)] = read_numbers(at("alone.h5"), "walks");
  }
  // Removing these files takes long enough to kill the job meanwhile.
  const std::string first = at("o.h5.shards/00000.h5"), many = at("o.h5.shards/old");
  for (int moment = 0; moment < 3; ++moment) {
    std::filesystem::remove_all(at("o.h5.shards"));
    std::filesystem::remove(at("o.h5"));
    run(sharded("1"));
    for (int i = 0; i < 200; ++i) write_file(many + std::to_string(i) + ".h5", "");
    auto words = sharded("2");
    words.insert(words.begin(), paths::kProgram);
    Process process(words);
    const auto old_shard = read_file(first);
    process.reaches([&] {
      if (moment == 0) return std::filesystem::exists(at("o.h5.shards/00000-1.h5"));
      if (moment == 1) return !std::filesystem::exists(many + "0.h5");
      return read_file(first) != old_shard;
    });
    kill(process.id(), SIGKILL);
    process.wait();

    const auto [seed, shown] = seed_and_walks(at("o.h5"));
    EXPECT_TRUE(shown == walks[seed]) << "moment " << moment << ", seed " << seed;
  }
  run(sharded("2"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at("o.h5.shards")), {}), 1);
  EXPECT_TRUE(read_numbers(at("o.h5"), "walks") == walks[2]);
}

/// A new result of any form replaces all files of the old one, but no other files of that folder.
TEST_F(FileSafety, OneFileReplacesAResultAndItsShards) {
  const std::string shards = at("o.h5.shards");
  for (const std::vector<std::string>& form : {std::vector<std::string>{}, {"--format", "npy"}}) {
    std::filesystem::remove_all(at("o.h5"));
    run(walk(at("o.h5"), {"--output-layout", "sharded"}));
    auto words = walk(at("o.h5"), {"--force"});
    words.insert(words.end(), form.begin(), form.end());
    run(words);
    EXPECT_FALSE(std::filesystem::exists(shards));
  }

  std::filesystem::remove_all(at("o.h5"));
  run(walk(at("o.h5"), {"--output-layout", "sharded"}));
  write_file(shards + "/mine.h5", "mine");
  run(walk(at("o.h5"), {"--force"}));
  EXPECT_FALSE(std::filesystem::exists(shards + "/00000.h5"));
  EXPECT_EQ(read_file(shards + "/mine.h5"), "mine");

  refuse(2, "the shards of --output: " + shards + " holds the file of --report",
         walk(at("o.h5"), {"--force", "--report", shards + "/report.json"}));
}

/// Shards that a killed job left block no other job, and no job removes them unasked.
TEST_F(FileSafety, ShardsWithoutTheFileThatShowsThemBlockNoJob) {
  const auto words = walk(at("o.h5"), {"--output-layout", "sharded"});
  run(words);
  const std::string shard = read_file(at("o.h5.shards/00000.h5"));
  std::filesystem::remove(at("o.h5"));

  run(words);
  EXPECT_TRUE(read_file(at("o.h5.shards/00000.h5")) == shard);
  EXPECT_TRUE(read_file(at("o.h5.shards/00000-1.h5")) == shard);
  EXPECT_EQ(read_numbers(at("o.h5"), "walks").size(), 256u * 4);
  refuse(2, "o.h5 exists", words);
}

/// The output's name is checked before hours of sorting.
TEST_F(FileSafety, ConversionsLookAtTheNameFirst) {
  const std::string faulty = written("faulty.txt", "0 1\nno edge\n");
  std::filesystem::create_directories(at("home/papers"));

  refuse(2, "home is a folder that holds more than results", {"convert", faulty, at("home"), "--force"});
  refuse(2, "faulty.txt exists", {"generate", "ring", "--output", faulty});
}

/// Two containers share a folder, and in each the job is process 1.
TEST_F(FileSafety, JobsOfTwoContainersKeepApart) {
  const auto contained = [&](const std::string& seed, const std::string& walks) {
    std::vector<std::string> words{"/usr/bin/unshare", "--pid", "--fork", paths::kProgram};
    if (geteuid() != 0) words.insert(words.begin() + 1, {"--user", "--map-root-user"});
    for (const auto& word : walk(at("o.h5"), {"--seed", seed, "--force", "--quiet"})) words.push_back(word);
    words.insert(words.end(), {"--walks-per-vertex", walks});
    return Process(words);
  };
  if (contained("1", "1").wait().status != 0) GTEST_SKIP() << "no permission to make a PID namespace";
  const auto begun = [&] {
    return std::ranges::any_of(folder_.names(), [](auto& name) { return name.find("partial") != name.npos; });
  };
  Process slow = contained("1", "12000");
  ASSERT_TRUE(slow.reaches(begun));
  const auto quick = contained("2", "1").wait();
  const auto last = slow.wait();

  EXPECT_EQ(quick.status, 0) << quick.err;
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(read_numbers(at("o.h5"), "walks").size(), 12000u * 256 * 4);
  EXPECT_FALSE(begun());
}

/// The same file may be given as two inputs.
TEST_F(FileSafety, InputsMayBeOneFile) {
  const std::string batch = written("batch.txt", "1 2 0.5\n");
  run({"pagerank", graph(), "--insert", batch, "--delete", batch, "--output", at("o.h5")});
}

}  // namespace
}  // namespace sluice::test
