// Jobs that end early: by signals, by limits on files, or without a standard stream. Each prints one line,
// returns the status of a failure, and leaves no file.
#include "cli/cli.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

constexpr int kFailed = 1;

class EarlyEnd : public CliTest {
 protected:
  /// Expects a refusal of a job that a shell starts after `preparation`, with `redirection`.
  void refuse_in_shell(const std::string& words, const std::string& preparation,
                       const std::vector<std::string>& arguments, const std::string& redirection = "") {
    const auto before = folder_.names().size();
    std::string command = preparation + " exec " + paths::kProgram;
    for (const auto& argument : arguments) command += " '" + argument + "'";
    const auto finished = Process({"/bin/sh", "-c", command + redirection}).wait();
    EXPECT_EQ(finished.status, kFailed) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_TRUE(finished.err.starts_with("sluice: ")) << finished.err;
    EXPECT_NE(finished.err.find(words), std::string::npos) << finished.err;
    EXPECT_EQ(folder_.names().size(), before) << "something was left behind";
  }
};

TEST_F(EarlyEnd, AStopInTheMiddleOfABatchEndsItSoon) {
  // One batch of samples of all vertices, which would take far longer than the time limit.
  const auto input = graph("kronecker", 17);
  for (const int requests : {1, 2}) {
    Process process({paths::kProgram, "sample", input, "--kind", "node", "--count", "50000", "--instances",
                     "4000", "--device", "host", "--threads", "1", "--output", at("out.h5")});
    ASSERT_TRUE(process.reaches([&] { return folder_.names().size() == 2; })) << "an output is begun";
    const auto before = process.ticks();
    ASSERT_TRUE(process.reaches([&] { return process.ticks() > before + 20; })) << "the batch is under way";
    // Two pending signals of one kind are delivered once, so the second is sent after the first was handled.
    for (int i = 0; i < requests; ++i) process.signal_and_see(SIGTERM);
    const auto finished = process.wait(std::chrono::seconds(40));

    EXPECT_EQ(finished.status, kFailed) << finished.err;
    EXPECT_NE(finished.err.find("stopped on request"), std::string::npos) << finished.err;
    EXPECT_EQ(folder_.names().size(), 1u) << "something was left behind";
  }
}

/// Ctrl-C, and a closed terminal.
TEST_F(EarlyEnd, AnInterruptLeavesNoOutput) {
  const auto input = graph();
  for (const int signal : {SIGINT, SIGHUP}) {
    Process process({paths::kProgram, "walk", input, "--length", "2000", "--walks-per-vertex", "100000",
                     "--output", at("out.h5")});
    ASSERT_TRUE(process.reaches([&] { return folder_.names().size() == 2; })) << "an output is begun";
    kill(process.id(), signal);
    const auto finished = process.wait();

    EXPECT_EQ(finished.status, kFailed) << finished.err;
    EXPECT_NE(finished.err.find("stopped on request"), std::string::npos) << finished.err;
    EXPECT_EQ(folder_.names().size(), 1u) << "something was left behind";
  }
}

TEST_F(EarlyEnd, WhatIgnoresTheTerminalGoesOn) {
  const auto input = graph();
  Process process({"/bin/sh", "-c",
                   std::string("trap '' HUP; exec ") + paths::kProgram + " walk " + input +
                       " --length 100 --walks-per-vertex 1000 --output " + at("out.h5")});
  ASSERT_TRUE(process.reaches([&] { return folder_.names().size() == 2; })) << "an output is begun";
  kill(process.id(), SIGHUP);
  EXPECT_EQ(process.wait().status, 0);
}

TEST_F(EarlyEnd, FilesMayGrowNoFurther) {
  const auto input = graph("kronecker", 13);
  const std::string words = "File too large", limit = "ulimit -f 100;";
  for (const char* format : {"h5", "npy", "text"}) {
    SCOPED_TRACE(format);
    refuse_in_shell(words, limit,
                    {"walk", input, "--length", "40", "--quiet", "--format", format, "--output", at("out")});
  }
  refuse_in_shell(words, limit, {"generate", "rmat", "--scale", "12", "--quiet", "--output", at("out.h5")});
  // Footers and metadata are written last, at the end of the file.
  run({"pagerank", input, "--quiet", "--output", at("ranks.h5")});
  const auto blocks = std::filesystem::file_size(at("ranks.h5")) / 512;
  for (const auto missing : {0, 1, 4, 8}) {
    SCOPED_TRACE(missing);
    refuse_in_shell(words, "ulimit -f " + std::to_string(blocks - missing - 1) + ";",
                    {"pagerank", input, "--quiet", "--output", at("out.h5")});
  }
}

TEST_F(EarlyEnd, AClosedStandardOutputIsNoFile) {
  const auto input = graph();
  const std::string words = "standard output";
  refuse_in_shell(words, "", {"walk", input, "--quiet", "--output", "-", "--format", "text"}, " >&-");
  refuse_in_shell(words, "", {"walk", input, "--quiet", "--output", "-", "--format", "text"}, " <&- >&-");
  refuse_in_shell(words, "", {"--version"}, " >&-");
  // Messages for a closed stream are written to no other file.
  const auto closed = Process({"/bin/sh", "-c",
                               std::string(paths::kProgram) + " walk " + input + " --verbose --output " +
                                   at("closed.h5") + " <&- >&- 2>&-"})
                          .wait();
  EXPECT_EQ(closed.status, 0);
  run({"walk", input, "--output", at("open.h5")});
  EXPECT_EQ(read_file(at("closed.h5")), read_file(at("open.h5")));
}

}  // namespace
}  // namespace sluice::test
