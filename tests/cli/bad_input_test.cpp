// Every kind of bad input gets its exit status, one clear line, and no output file.
#include <sys/mount.h>

#include <memory>

#include "cli/job_test.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

constexpr int kFailed = 1, kUsage = 2, kBadInput = 3, kOverBudget = 4;

class BadInput : public JobTest {
 protected:
  std::string starts(const std::string& text) {
    write_file(at("starts"), text);
    return at("starts");
  }
};

// ---- files

TEST_F(BadInput, MissingGraph) {
  refuse(kBadInput, "absent.h5", walk(at("absent.h5")));
}

TEST_F(BadInput, MissingGraphForInfoAndCheck) {
  refuse(kBadInput, "absent.h5", {"info", at("absent.h5")});
  refuse(kBadInput, "absent.h5", {"check", at("absent.h5")});
}

TEST_F(BadInput, MissingEdgeList) {
  refuse(kBadInput, "absent.txt", {"convert", at("absent.txt"), at("out.h5")});
}

TEST_F(BadInput, IdsThatNoGraphHas) {
  write_file(at("edges.txt"), "1 0\n0 5000000000\n");
  refuse(kBadInput, "ids up to 5000000000 exceed the",
         {"convert", at("edges.txt"), at("out.h5"), "--no-compact"});
}

TEST_F(BadInput, GraphsForStandardOutput) {
  write_file(at("edges.txt"), "1 0\n");
  const std::string words = ": cannot be standard output (name a file instead of -)";
  refuse(kUsage, "OUT" + words, {"convert", at("edges.txt"), "-"});
  refuse(kUsage, "--output" + words, {"generate", "ring", "--scale", "3", "--output", "-"});
}

TEST_F(BadInput, EmptyGraphFile) {
  write_file(at("empty.h5"), "");
  refuse(kBadInput, "empty.h5", walk(at("empty.h5")));
}

TEST_F(BadInput, TruncatedGraphFile) {
  const auto whole = read_file(graph());
  write_file(at("short.h5"), whole.substr(0, whole.size() / 2));
  refuse(kBadInput, "short.h5", walk(at("short.h5")));
}

TEST_F(BadInput, UnreadableGraphFile) {
  const auto path = graph();
  chmod(path.c_str(), 0);
  chmod(folder_.path().c_str(), 0755);

  const auto finished = Process({paths::kProgram, "info", path}, Process::As::nobody).wait();

  if (finished.status == 127) GTEST_SKIP() << "others may not run the program here";
  EXPECT_EQ(finished.status, kBadInput);
  EXPECT_TRUE(finished.err.starts_with("sluice: " + path)) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

TEST_F(BadInput, FolderInsteadOfGraph) {
  refuse(kBadInput, folder_.path().string(), walk(folder_.path().string()));
}

TEST_F(BadInput, TextInsteadOfGraph) {
  write_file(at("text.h5"), "0 1\n1 2\n");
  refuse(kBadInput, "text.h5", walk(at("text.h5")));
}

TEST_F(BadInput, Hdf5ThatIsNoGraph) {
  run(walk(graph()));
  std::filesystem::rename(at("out.h5"), at("walks.h5"));
  refuse(kBadInput, "walks.h5", walk(at("walks.h5")));
}

TEST_F(BadInput, FlippedByteIsFoundByCheck) {
  const auto path = graph();
  auto bytes = read_file(path);
  // Neighbour lists are in the middle of the file.
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(path, bytes);
  refuse(kBadInput, path, {"check", path});
}

TEST_F(BadInput, MangledEdgeListNamesItsLine) {
  write_file(at("edges.txt"), "0 1\n1 x\n");
  refuse(kBadInput, "edges.txt:2", {"convert", at("edges.txt"), at("out.h5")});
}

TEST_F(BadInput, ExistingOutputWithoutForce) {
  run(walk(graph()));
  const auto before = read_file(at("out.h5"));
  refuse(kUsage, "--force", walk(graph()));
  refuse(kUsage, "--force", {"generate", "ring", "--scale", "4", "--output", at("out.h5")});
  EXPECT_EQ(read_file(at("out.h5")), before);
}

TEST_F(BadInput, ExistingReportWithoutForce) {
  write_file(at("report.json"), "mine");
  refuse(kUsage, "report.json", walk(graph(), {"--report", at("report.json")}));
  EXPECT_EQ(read_file(at("report.json")), "mine");
}

TEST_F(BadInput, OutputThatIsTheInput) {
  const auto path = graph();
  const auto before = read_file(path);
  refuse(kUsage, "is the file of GRAPH", {"walk", path, "--output", path, "--force"});
  refuse(kUsage, "is the file of IN", {"convert", path, path, "--force"});
  refuse(kUsage, "--report", walk(path, {"--report", at("out.h5")}));
  EXPECT_EQ(read_file(path), before);
}

TEST_F(BadInput, OutputInAFolderThatIsAbsent) {
  refuse(kFailed, "absent", {"walk", graph(), "--output", at("absent/out.h5")});
}

TEST_F(BadInput, FullDisk) {
  const auto disk = at("disk");
  std::filesystem::create_directory(disk);
  const auto input = graph();
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "no permission to mount";
  refuse(kFailed, disk, {"walk", input, "--length", "1000", "--output", disk + "/out.h5"});
  refuse(kFailed, disk, {"generate", "kronecker", "--scale", "12", "--output", disk + "/graph.h5"});
  EXPECT_TRUE(std::filesystem::is_empty(disk));
  umount(disk.c_str());
}

TEST_F(BadInput, BinaryResultsDoNotGoToStandardOutput) {
  refuse(kUsage, "text", {"walk", graph(), "--output", "-"});
}

TEST_F(BadInput, ReportsDoNotGoToStandardOutput) {
  refuse(kUsage, "--report: cannot be standard output", walk(graph(), {"--report", "-"}));
}

// ---- starts

TEST_F(BadInput, StartOutOfRange) {
  refuse(kBadInput, "starts:2", walk(graph(), {"--starts", starts("3\n256\n")}));
}

TEST_F(BadInput, NegativeStart) {
  refuse(kBadInput, "starts:1", walk(graph(), {"--starts", starts("-1\n")}));
}

TEST_F(BadInput, StartThatIsNoNumber) {
  refuse(kBadInput, "starts:3: 'x7'", walk(graph(), {"--starts", starts("1\n2\nx7\n")}));
}

TEST_F(BadInput, StartsThatAreCompressed) {
  refuse(kBadInput, "starts:1: '\\x1f\\x8b\\x08\\x00' is not a vertex id",
         walk(graph(), {"--starts", starts(std::string("\x1f\x8b\x08\0", 4))}));
}

TEST_F(BadInput, TwoStartsOnALineOfAWalk) {
  refuse(kBadInput, "starts:1", walk(graph(), {"--starts", starts("1 2\n")}));
}

TEST_F(BadInput, EmptyStarts) {
  refuse(kBadInput, "no vertex", walk(graph(), {"--starts", starts("# nothing\n")}));
}

TEST_F(BadInput, MissingStarts) {
  refuse(kBadInput, "absent", walk(graph(), {"--starts", at("absent")}));
}

TEST_F(BadInput, UnequalPools) {
  refuse(kBadInput, "pool", walk(graph(), {"--kind", "multidimensional", "--starts", starts("1 2\n3\n")}));
}

TEST_F(BadInput, ContradictingStarts) {
  refuse(kUsage, "exclude", walk(graph(), {"--instances", "3", "--walks-per-vertex", "2"}));
}

TEST_F(BadInput, InstanceRanges) {
  refuse(kUsage, "--instance-range", walk(graph(), {"--instance-range", "5"}));
  refuse(kUsage, "--instance-range", walk(graph(), {"--instance-range", "5:5"}));
  refuse(kUsage, "--instance-range", walk(graph(), {"--instance-range", "a:b"}));
  refuse(kUsage, "--instance-range", walk(graph(), {"--instance-range", "256:300"}));
}

TEST_F(BadInput, MoreVerticesThanThereAre) {
  refuse(kBadInput, "count", sample("node", {"--count", "257"}));
}

TEST_F(BadInput, MoreDrawsThanAStreamHas) {
  const std::string words = "--fanout: at most 16777216";
  refuse(kUsage, words, sample("neighbor", {"--fanout", "16777217", "--replace"}));
  refuse(kUsage, words, sample("neighbor", {"--fanout", "16777217", "--replace", "--plan"}));
}

TEST_F(BadInput, MoreEdgesThanThereAre) {
  refuse(kBadInput, "count", sample("edge", {"--count", "1000000"}));
}

// ---- options

TEST_F(BadInput, ProbabilitiesOutsideTheirRange) {
  refuse(kUsage, "--probability", walk(graph(), {"--kind", "jump", "--probability", "1.5"}));
  refuse(kUsage, "--probability", walk(graph(), {"--kind", "restart", "--probability", "-0.1"}));
  refuse(kUsage, "--probability", walk(graph(), {"--kind", "restart", "--probability", "nan"}));
  refuse(kUsage, "--probability", sample("forest-fire", {"--probability", "1"}));
}

TEST_F(BadInput, ReturnAndInOutMustBePositive) {
  refuse(kUsage, "--p", walk(graph(), {"--kind", "node2vec", "--p", "0"}));
  refuse(kUsage, "--q", walk(graph(), {"--kind", "node2vec", "--q", "-2"}));
}

TEST_F(BadInput, UnknownNames) {
  refuse(kUsage, "unknown command 'stroll' (see", {"stroll"});
  refuse(kUsage, "unknown command 'smaple', did you mean sample? (see", {"smaple"});
  refuse(kUsage, "unknown command 'page-rank', did you mean pagerank?", {"help", "page-rank"});
  refuse(kUsage, "unknown command '--hlep', did you mean --help?", {"--hlep"});
  refuse(kUsage, "--kind: 'drunk'", walk(graph(), {"--kind", "drunk"}));
  refuse(kUsage, "unknown option --frobnicate (see sluice walk --help)", walk(graph(), {"--frobnicate"}));
  refuse(kUsage, "unknown option --lenght, did you mean --length?", walk(graph(), {"--lenght", "5"}));
  refuse(kUsage, "unknown option --prob, did you mean --probability?", walk(graph(), {"--prob=0.5"}));
  refuse(kUsage, "unknown option --lenght, did you mean --length?", {"walk", "--lenght"});
  refuse(kUsage, "unknown option -seed, did you mean --seed?", walk(graph(), {"-seed", "5"}));
  refuse(kUsage, "--device: 'abacus'", walk(graph(), {"--device", "abacus"}));
  refuse(kUsage, "KIND: 'torus'", {"generate", "torus", "--output", at("out.h5")});
}

TEST_F(BadInput, WordsTooMany) {
  refuse(kUsage, "sluice: unexpected: one two three (see", walk(graph(), {"one", "two", "three"}));
}

TEST_F(BadInput, NoCommandListsAll) {
  const Finished finished = sluice({});
  EXPECT_EQ(finished.status, kUsage);
  EXPECT_EQ(finished.err, "sluice: no command was given\n");
  EXPECT_EQ(finished.out, run({"--help"}).out);
  EXPECT_EQ(finished.out, run({"help"}).out);
  for (const char* const command : {"generate", "walk", "ppr", "bp"})
    EXPECT_NE(finished.out.find(std::string("\n  ") + command), std::string::npos) << command;
}

TEST_F(BadInput, HelpIsACommandToo) {
  for (const char* const command : {"walk", "pagerank"})
    EXPECT_EQ(run({"help", command}).out, run({command, "--help"}).out);
}

TEST_F(BadInput, ValuesThatAreNoNumbers) {
  refuse(kUsage, "--length", {"walk", graph(), "--length", "ten", "--output", at("out.h5")});
  refuse(kUsage, "--length", {"walk", graph(), "--length", "0", "--output", at("out.h5")});
  refuse(kUsage, "--seed: -1 is too small (at least 0)", walk(graph(), {"--seed", "-1"}));
  refuse(kUsage, "--seed: 18446744073709551616 is too large (at most 18446744073709551615)",
         walk(graph(), {"--seed", "18446744073709551616"}));
  refuse(kUsage, "--seed: '5x' is not a whole number", walk(graph(), {"--seed", "5x"}));
  refuse(kUsage, "--seed: '-' is not a whole number", walk(graph(), {"--seed=-"}));
  refuse(kUsage, "--threads", walk(graph(), {"--threads", "0"}));
  refuse(kUsage, "--device-memory", walk(graph(), {"--device-memory", "much"}));
  refuse(kUsage, "--fanout", sample("neighbor", {"--fanout", "3,,2"}));
  refuse(kUsage, "--fanout", sample("neighbor", {"--fanout", "0"}));
}

TEST_F(BadInput, OptionsTwiceOrWithoutTheirValues) {
  refuse(kUsage, "--seed: given twice (give it once) (see sluice walk --help)",
         walk(graph(), {"--seed", "5", "--seed", "6"}));
  refuse(kUsage, "--seed: its value is missing (see sluice walk --help)", walk(graph(), {"--seed"}));
  refuse(kUsage, "--report: its value is missing (see sluice walk --help)",
         walk(graph(), {"--report=", "--verify"}));
  refuse(kUsage, "--report: its value is missing (see sluice walk --help)",
         walk(graph(), {"--report", "--verify"}));
  refuse(kUsage, "--scratch: its value is missing (see sluice walk --help)",
         walk(graph(), {"--scratch", "--seed=5"}));
}

TEST_F(BadInput, ScratchThatIsNoFolder) {
  write_file(at("edges"), "0 1\n");
  for (const std::string& scratch : {at("absent"), at("edges")}) {
    refuse(kUsage, "--scratch: " + scratch, walk(graph(), {"--scratch", scratch}));
    refuse(kUsage, "--scratch: " + scratch, {"convert", at("edges"), at("out.h5"), "--scratch", scratch});
    refuse(kUsage, "--scratch: " + scratch,
           {"generate", "ring", "--output", at("out.h5"), "--scratch", scratch});
  }
  std::filesystem::create_directory(at("closed"));
  std::filesystem::permissions(at("closed"), std::filesystem::perms::owner_read);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  const auto finished = Process({paths::kProgram, "walk", graph(), "--output", "-", "--format", "text",
                                 "--scratch", at("closed")},
                                Process::As::nobody)
                            .wait();
  EXPECT_EQ(finished.status, kUsage);
  EXPECT_NE(finished.err.find("cannot be written"), std::string::npos) << finished.err;
}

TEST_F(BadInput, MissingArguments) {
  refuse(kUsage, "GRAPH", {"walk"});
  refuse(kUsage, "--output", {"walk", graph()});
  refuse(kUsage, "--seed", walk(graph(), {"--seed"}));
  refuse(kUsage, "--fanout", sample("neighbor"));
  refuse(kUsage, "--layer-size", sample("layer"));
  refuse(kUsage, "--count", sample("node"));
}

TEST_F(BadInput, SlotsWithoutPartitionsAreSaidToBeIdle) {
  const auto hint_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--force", "--device", "host", "--slots", "2"});
    return run(sample("edge", more)).err;
  };
  EXPECT_NE(hint_of({"--count", "3"}).find("the graph is processed whole (use --partitions)"),
            std::string::npos);
  const auto hint = hint_of({"--count", "3", "--partitions", "4"});
  EXPECT_NE(hint.find("--slots 2 has no effect"), std::string::npos) << hint;
  EXPECT_EQ(hint.find("use --partitions"), std::string::npos) << hint;
}

TEST_F(BadInput, ShardedGoesWithHdf5) {
  refuse(kUsage, "--output-layout sharded", walk(graph(), {"--output-layout", "sharded", "--format", "npy"}));
  refuse(kUsage, "--output-layout sharded",
         walk(graph(), {"--output-layout", "sharded", "--format", "text"}));
}

TEST_F(BadInput, TransportsThatCannotBe) {
  refuse(kOverBudget, "--host-memory", walk(graph(), {"--transport", "mapped", "--host-memory", "512"}));
  refuse(kUsage, "--layout wide", walk(graph(), {"--partitions", "4", "--layout", "wide"}));
}

// ---- budgets and devices

TEST_F(BadInput, HostMemoryTooSmall) {
  refuse(kOverBudget, "--host-memory", walk(graph(), {"--host-memory", "4KiB"}));
}

TEST_F(BadInput, DeviceMemoryTooSmall) {
  refuse(kOverBudget, "--device-memory", walk(graph(), {"--device", "host", "--device-memory", "256"}));
}

TEST_F(BadInput, CudaWhereThereIsNone) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  refuse(kUsage, "--device cuda", walk(graph(), {"--device", "cuda"}));
}

}  // namespace
}  // namespace sluice::test
