// Helpers of tests of sluice bfs, sssp, kcore, wcc and bp: a small graph, a model, the report.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cli.hpp"

namespace sluice::test {

class AccCli : public CliTest {
 protected:
  /// Two triangles that share a vertex, an edge with a pendant vertex, and a separate pair; ids have gaps.
  std::string small(const std::vector<std::string>& more = {}) {
    std::ofstream(at("edges.txt"))
        << "10 20 1\n20 30 1\n10 30 5\n30 40 0\n40 50 2\n30 50 1\n50 90 4\n700 800 1\n";
    std::vector<std::string> words{"convert", at("edges.txt"), at("small.h5"), "--weights",
                                   "column",  "--quiet",       "--force"};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return at("small.h5");
  }

  std::string text(std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "text", "--output", "-", "--quiet", "--verify"});
    return run(words).out;
  }

  nlohmann::json report() {
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  /// bp with two states on graph(), on the host.
  std::vector<std::string> bp(const std::string& output, const std::vector<std::string>& more) {
    std::ofstream(at("coupling.txt")) << "1 2\n2 1\n";
    std::ofstream priors(at("priors.txt"));
    for (int v = 0; v < 256; ++v) priors << 1 + v % 5 << " 2\n";
    std::vector<std::string> words{
        "bp",       graph(),          "--device", "host",    "--force", "--coupling", at("coupling.txt"),
        "--priors", at("priors.txt"), "--output", at(output)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

}  // namespace sluice::test
