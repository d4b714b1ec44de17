// Runs the program on several ranks of this machine.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "mpi/kinds.hpp"
#include "paths.hpp"

namespace sluice::test {

/// The words that start a program on `ranks` ranks.
inline std::vector<std::string> on_ranks(int ranks, std::vector<std::string> program) {
  // Open MPI leaks memory of plugins that it has unloaded, which no suppression could name.
  std::vector<std::string> words{
      SLUICE_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-x", "ASAN_OPTIONS=detect_leaks=0",
      "-n",          std::to_string(ranks)};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

/// Runs `sluice` with these arguments on `ranks` ranks to its end.
inline Finished sluice_on(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), paths::kProgram);
  return Process(on_ranks(ranks, std::move(arguments))).wait();
}

/// The same for `sluice-bench`.
inline Finished bench_on(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), paths::kBench);
  return Process(on_ranks(ranks, std::move(arguments))).wait();
}

class MpiTest : public CliTest {
 protected:
  void SetUp() override {
    if (std::string(SLUICE_MPIRUN).empty()) GTEST_SKIP() << "this build has no MPI";
  }

  /// Runs the program on several ranks; it must succeed.
  Finished run_on(int ranks, std::vector<std::string> arguments) {
    auto finished = sluice_on(ranks, std::move(arguments));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }

  /// Runs the tests of on_ranks that match the filter. An exception must end all ranks: if one rank caught
  /// it, the others would wait forever.
  void pass_on(int ranks, const std::string& filter) {
    const auto finished =
        Process(on_ranks(ranks, {paths::kOnRanks, "--gtest_catch_exceptions=0", "--gtest_filter=" + filter}))
            .wait();
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    EXPECT_NE(finished.out.find("[  PASSED  ]"), std::string::npos) << finished.out;
    EXPECT_EQ(finished.out.find("[  PASSED  ] 0 tests"), std::string::npos) << "no test is called " << filter;
  }

  /// The words of a job of this kind.
  std::vector<std::string> arguments_of(const Kind& kind, const std::string& output,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> arguments = kind.arguments;
    arguments.insert(arguments.begin() + 1, graph());
    arguments.insert(arguments.end(), {"--quiet", "--output", at(output)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

}  // namespace sluice::test
