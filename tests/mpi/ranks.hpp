// Runs the program on several ranks of this machine.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.hpp"

namespace sluice::test {

/// The words that start `ranks` of a program.
inline std::vector<std::string> on_ranks(int ranks, std::vector<std::string> program) {
  // Open MPI leaves memory of plugins behind that it has unloaded: no suppression could name it.
  std::vector<std::string> words{
      SLUICE_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-x", "ASAN_OPTIONS=detect_leaks=0",
      "-n",          std::to_string(ranks)};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

/// Runs `sluice` with these arguments on `ranks` ranks to its end.
inline Finished sluice_on(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SLUICE_PROGRAM);
  return Process(on_ranks(ranks, std::move(arguments))).wait();
}

/// One way to call every kind of walk and sample, on a graph of 2^8 vertices.
struct Kind {
  const char* name;
  std::vector<std::string> arguments;
};

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

  /// The tests of the program on_ranks that the filter names. An exception ends all ranks: caught on one, it
  /// would let the others wait for their patience's end.
  void pass_on(int ranks, const std::string& filter) {
    const auto finished =
        Process(on_ranks(ranks, {SLUICE_ON_RANKS, "--gtest_catch_exceptions=0", "--gtest_filter=" + filter}))
            .wait();
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    EXPECT_NE(finished.out.find("[  PASSED  ]"), std::string::npos) << finished.out;
    EXPECT_EQ(finished.out.find("[  PASSED  ] 0 tests"), std::string::npos) << "no test is called " << filter;
  }

  /// The words that make a result of this kind.
  std::vector<std::string> arguments_of(const Kind& kind, const std::string& output,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> arguments = kind.arguments;
    arguments.insert(arguments.begin() + 1, graph());
    arguments.insert(arguments.end(), {"--quiet", "--output", at(output)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

inline const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds{
      {"uniform", {"walk", "--kind", "uniform", "--length", "9"}},
      {"biased", {"walk", "--kind", "biased", "--length", "9"}},
      {"metropolis-hastings", {"walk", "--kind", "metropolis-hastings", "--length", "9"}},
      {"jump", {"walk", "--kind", "jump", "--length", "9"}},
      {"restart", {"walk", "--kind", "restart", "--length", "9", "--walks-per-vertex", "2"}},
      {"node2vec", {"walk", "--kind", "node2vec", "--q", "2", "--length", "9"}},
      {"multidimensional",
       {"walk", "--kind", "multidimensional", "--frontier-size", "3", "--instances", "50", "--length", "9"}},
      {"neighbor", {"sample", "--kind", "neighbor", "--fanout", "4,3"}},
      {"forest-fire", {"sample", "--kind", "forest-fire", "--instances", "77"}},
      {"snowball", {"sample", "--kind", "snowball", "--instances", "33", "--depth", "2"}},
      {"layer", {"sample", "--kind", "layer", "--layer-size", "5,4"}},
      {"node", {"sample", "--kind", "node", "--count", "20", "--instances", "3"}},
      {"edge", {"sample", "--kind", "edge", "--count", "20", "--instances", "7"}},
  };
  return kinds;
}

}  // namespace sluice::test
