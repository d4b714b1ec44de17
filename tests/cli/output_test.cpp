// Outputs: formats, starts, original ids, and equal results for equal jobs.
#include <sstream>

#include "cli/cli.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class Output : public CliTest {
 protected:
  std::string walk(const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments{"walk", graph(), "--length", "10", "--output", at(name), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run(arguments);
    return at(name);
  }

  std::string sample(const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments{"sample", graph(), "--fanout", "4,3", "--output", at(name), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run(arguments);
    return at(name);
  }
};

TEST_F(Output, TwoRunsGiveIdenticalFiles) {
  EXPECT_EQ(read_file(walk("a.h5", {})), read_file(walk("b.h5", {})));
  EXPECT_EQ(read_file(sample("c.h5", {})), read_file(sample("d.h5", {})));
}

TEST_F(Output, GraphFilesOfTwoRunsAreIdentical) {
  run({"generate", "rmat", "--scale", "7", "--weights", "uniform", "--threads", "1", "--output", at("a.h5")});
  run({"generate", "rmat", "--scale", "7", "--weights", "uniform", "--threads", "3", "--output", at("b.h5")});

  EXPECT_EQ(read_numbers(at("a.h5"), "out/indices"), read_numbers(at("b.h5"), "out/indices"));
}

TEST_F(Output, ThreadsChangeNothing) {
  EXPECT_EQ(read_file(walk("a.h5", {"--threads", "1"})), read_file(walk("b.h5", {"--threads", "5"})));
  EXPECT_EQ(read_file(sample("c.h5", {"--threads", "1"})), read_file(sample("d.h5", {"--threads", "5"})));
}

TEST_F(Output, LayoutChangesNothing) {
  EXPECT_EQ(read_file(walk("a.h5", {"--layout", "csr"})), read_file(walk("b.h5", {"--layout", "wide"})));
}

TEST_F(Output, SeedsDiffer) {
  EXPECT_NE(read_numbers(walk("a.h5", {"--seed", "1"}), "walks"),
            read_numbers(walk("b.h5", {"--seed", "2"}), "walks"));
}

TEST_F(Output, InstanceRangesConcatenateToTheWhole) {
  const auto whole = read_numbers(walk("whole.h5", {}), "walks");
  std::vector<std::int64_t> joined;
  for (const char* range : {"0:100", "100:101", "101:256"}) {
    const auto part = read_numbers(walk(std::string(range) + ".h5", {"--instance-range", range}), "walks");
    joined.insert(joined.end(), part.begin(), part.end());
  }

  EXPECT_EQ(joined, whole);
}

TEST_F(Output, SampleRangesConcatenateToTheWhole) {
  const auto whole = read_numbers(sample("whole.h5", {}), "edge");
  auto joined = read_numbers(sample("a.h5", {"--instance-range", "0:17"}), "edge");
  const auto rest = read_numbers(sample("b.h5", {"--instance-range", "17:1000"}), "edge");
  joined.insert(joined.end(), rest.begin(), rest.end());

  EXPECT_EQ(joined, whole);
}

TEST_F(Output, TextHoldsTheSameWalksAndEndsWhereTheyEnd) {
  write_file(at("line.txt"), "0 1\n1 2\n2 3\n");
  run({"convert", at("line.txt"), at("line.h5"), "--quiet"});
  const auto walk_line = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"walk", at("line.h5"), "--length", "3", "--output", at(name), "--quiet"});
    run(more);
    return at(name);
  };
  for (const bool original : {false, true}) {
    const std::vector<std::string> ids(original, "--original-ids");
    const std::string suffix = std::to_string(original);
    auto text = ids;
    text.insert(text.end(), {"--format", "text"});
    EXPECT_EQ(read_file(walk_line("w.txt" + suffix, text)), "0 1 2 3\n1 2 3\n2 3\n3\n");
    EXPECT_EQ(read_numbers(walk_line("w.h5" + suffix, ids), "walks"),
              (std::vector<std::int64_t>{0, 1, 2, 3, 1, 2, 3, -1, 2, 3, -1, -1, 3, -1, -1, -1}));
  }
  write_file(at("pools.txt"), "3\n2\n");
  EXPECT_EQ(read_file(walk_line(
                "p.txt", {"--kind", "multidimensional", "--starts", at("pools.txt"), "--format", "text"})),
            "# edges\n\n2 3\n# pool\n3\n2\n");
}

TEST_F(Output, TextGoesToStandardOutput) {
  const auto file = read_file(walk("a.txt", {"--format", "text"}));

  const auto printed = run({"walk", graph(), "--length", "10", "--output", "-", "--format", "text"});

  EXPECT_EQ(printed.out, file);
}

TEST_F(Output, TextOfSamplesHasOneEdgeALine) {
  const auto sources = read_numbers(sample("a.h5", {}), "source");
  std::istringstream text(read_file(sample("a.txt", {"--format", "text"})));

  std::string header, line;
  std::getline(text, header);
  std::vector<std::int64_t> read;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    std::int64_t instance = 0, source = 0;
    words >> instance >> source;
    read.push_back(source);
  }

  EXPECT_EQ(header, "# instance source target depth edge");
  EXPECT_EQ(read, sources);
}

TEST_F(Output, TextOfNodeSamplesShowsTheVertices) {
  const auto text =
      run({"sample", graph(), "--kind", "node", "--count", "9", "--output", "-", "--format", "text"}).out;

  EXPECT_NE(text.find("# vertices\n"), std::string::npos) << text;
}

/// Results for standard output wait in a temporary folder; a missing default folder shows which one is used.
TEST_F(Output, WhatWaitsForStandardOutputLiesInScratch) {
  const std::vector<std::string> arguments{"sample", graph(),    "--kind", "node",     "--count",
                                           "9",      "--output", "-",      "--format", "text"};
  std::vector<std::string> words{"/usr/bin/env", "TMPDIR=" + at("absent"), paths::kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  EXPECT_EQ(Process(words).wait().status, 1);
  words.insert(words.end(), {"--scratch", folder_.path().string()});

  const auto before = folder_.names().size();
  const auto finished = Process(words).wait();

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, run(arguments).out);
  EXPECT_EQ(folder_.names().size(), before);
}

TEST_F(Output, AttributesNameOptionsSeedAndGraph) {
  const auto path = walk("a.h5", {"--kind", "node2vec", "--q", "2", "--seed", "7"});

  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (const char* name :
       {"command", "kind", "length", "p", "q", "seed", "select", "walks_per_vertex", "graph_checksum"}) {
    EXPECT_GT(H5Aexists(file, name), 0) << name;
  }
  EXPECT_EQ(H5Aexists(file, "probability"), 0);
  H5Fclose(file);
}

TEST_F(Output, NpyIsAFolderOfArrays) {
  const auto walks = walk("a", {"--format", "npy"});
  const auto samples = sample("b", {"--format", "npy"});

  const auto bytes = read_file(walks + "/walks.npy");
  EXPECT_TRUE(bytes.starts_with("\x93NUMPY"));
  EXPECT_NE(bytes.find("(256, 11)"), std::string::npos);
  for (const char* name :
       {"instance_offsets", "source", "target", "depth", "edge", "seeds", "seed_offsets"}) {
    EXPECT_TRUE(std::filesystem::exists(samples + "/" + name + ".npy")) << name;
  }
}

TEST_F(Output, StartsComeFromAFile) {
  write_file(at("starts"), "# comment\n5\n\n9 % another\n5\n");

  const auto walks = read_numbers(walk("a.h5", {"--starts", at("starts")}), "walks");

  ASSERT_EQ(walks.size(), 3u * 11);
  EXPECT_EQ(walks[0], 5);
  EXPECT_EQ(walks[11], 9);
  EXPECT_EQ(walks[22], 5);
}

TEST_F(Output, SamplesTakeSeveralSeedsALine) {
  write_file(at("starts"), "5, 9,5\n7\n");

  const auto file = sample("a.h5", {"--starts", at("starts"), "--verify"});

  EXPECT_EQ(read_numbers(file, "seeds"), (std::vector<std::int64_t>{5, 9, 7}));
  EXPECT_EQ(read_numbers(file, "seed_offsets"), (std::vector<std::int64_t>{0, 2, 3}));
}

TEST_F(Output, WalksPerVertexRepeatTheVertices) {
  const auto walks = read_numbers(walk("a.h5", {"--walks-per-vertex", "2"}), "walks");

  ASSERT_EQ(walks.size(), 2u * 256 * 11);
  EXPECT_EQ(walks[256 * 11], 0);
  EXPECT_EQ(walks[257 * 11], 1);
}

TEST_F(Output, OriginalIdsAreUnderstoodAndWritten) {
  write_file(at("edges.txt"), "1000 2000\n2000 3000\n3000 1000\n");
  run({"convert", at("edges.txt"), at("graph.h5"), "--compact"});
  write_file(at("starts"), "2000\n");

  run({"walk", at("graph.h5"), "--length", "3", "--starts", at("starts"), "--original-ids", "--verify",
       "--output", at("walks.h5")});
  run({"walk", at("graph.h5"), "--length", "3", "--output", at("internal.h5")});

  EXPECT_EQ(read_numbers(at("walks.h5"), "walks"), (std::vector<std::int64_t>{2000, 3000, 1000, 2000}));
  EXPECT_EQ(read_numbers(at("internal.h5"), "walks"),
            (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_F(Output, WalksEndWithMinusOne) {
  write_file(at("edges.txt"), "0 1\n1 2\n");
  run({"convert", at("edges.txt"), at("graph.h5")});

  run({"walk", at("graph.h5"), "--length", "3", "--verify", "--output", at("walks.h5")});

  EXPECT_EQ(read_numbers(at("walks.h5"), "walks"),
            (std::vector<std::int64_t>{0, 1, 2, -1, 1, 2, -1, -1, 2, -1, -1, -1}));
}

TEST_F(Output, ForceReplaces) {
  const auto path = walk("a.h5", {"--seed", "1"});
  const auto first = read_file(path);

  walk("a.h5", {"--seed", "2", "--force"});

  EXPECT_NE(read_file(path), first);
}

}  // namespace
}  // namespace sluice::test
