// Helpers of tests of sluice-bench, beside those of tests of the program.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "paths.hpp"

namespace sluice::test {

class BenchTest : public CliTest {
 protected:
  /// Runs sluice-bench to its end.
  static Finished bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), paths::kBench);
    return Process(std::move(arguments)).wait();
  }
  /// Runs sluice-bench; it must succeed.
  static Finished run_bench(std::vector<std::string> arguments) {
    auto finished = bench(std::move(arguments));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }
  /// As refuse(), for sluice-bench.
  void refuse_bench(int status, const std::string& words, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), paths::kBench);
    refuse_program("sluice-bench", status, words, std::move(arguments));
  }
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(read_file(at(name))); }
};

}  // namespace sluice::test
