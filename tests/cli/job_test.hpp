// The command lines of small jobs, whose results would be written to out.h5.
#pragma once

#include "cli/cli.hpp"

namespace sluice::test {

class JobTest : public CliTest {
 protected:
  std::vector<std::string> walk(const std::string& graph, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"walk", graph, "--length", "5", "--output", at("out.h5")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::vector<std::string> sample(const std::string& kind, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"sample", graph(), "--kind", kind, "--output", at("out.h5")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

}  // namespace sluice::test
