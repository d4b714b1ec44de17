// In every family, the memory of a rank for a graph that is shared out falls with the number of ranks.
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class MemoryOfRanks : public MpiTest, public testing::WithParamInterface<Kind> {};

TEST_P(MemoryOfRanks, Falls) {
  const bool directed = GetParam().arguments[0] == "pagerank";
  const std::string large = directed ? graph("rmat", 16, {"--weights", "uniform", "--reverse"})
                                     : graph("kronecker", 13, {"--weights", "uniform", "--undirected"});
  std::vector<std::string> words = GetParam().arguments;
  words.insert(words.begin() + 1, large);
  if (words[0] == "bp") {
    std::ofstream priors(at("priors.txt"));
    for (int v = 0; v < 1 << 13; ++v) priors << "0.4 0.6\n";
    std::ofstream(at("coupling.txt")) << "2 1\n1 2\n";
    words.insert(words.end(), {"--priors", at("priors.txt"), "--coupling", at("coupling.txt")});
  }
  if (std::ranges::find(words, "--method") != words.end() && directed) {
    run({"pagerank", large, "--dangling", "self-loop", "--quiet", "--output", at("before.h5")});
    std::ofstream(at("batch.txt")) << "1 9 0.5\n17 4 1\n100 33 0.1\n";
    words.insert(words.end(),
                 {"--dangling", "self-loop", "--previous", at("before.h5"), "--insert", at("batch.txt")});
  }
  words.insert(words.end(), {"--device", "host", "--threads", "1", "--distribution", "shard", "--quiet",
                             "--force", "--output", at("r.h5"), "--report", at("r.json")});
  const auto peak_on = [&](int ranks) {
    run_on(ranks, words);
    return nlohmann::json::parse(read_file(at("r.json")))["peak_host_bytes"].get<double>();
  };

  EXPECT_LT(peak_on(4) / peak_on(2), 0.9);
}

std::vector<Kind> families() {
  const std::vector<std::string> few{"--instances", "4000"};
  std::vector<Kind> all = all_kinds();
  for (Kind& kind : all) {
    if (kind.arguments[0] == "walk" ||
        std::ranges::find(kind.arguments, "--instances") != kind.arguments.end())
      continue;
    kind.arguments.insert(kind.arguments.end(), few.begin(), few.end());
  }
  const std::vector<Kind> solvers{
      {"pagerank", {"pagerank", "--max-iterations", "3"}},
      {"nd", {"pagerank", "--method", "nd"}},
      {"dfp", {"pagerank", "--method", "dfp"}},
      {"exact", {"ppr", "--length", "3", "--instances", "64"}},
      {"meloppr", {"ppr", "--method", "meloppr", "--instances", "64"}},
      {"push", {"ppr", "--method", "push", "--tolerance", "0.01", "--instances", "64"}},
      {"montecarlo", {"ppr", "--method", "montecarlo", "--walks", "1000", "--instances", "64"}},
      {"bfs", {"bfs", "--source", "1"}},
      {"sssp", {"sssp", "--source", "1"}},
      {"kcore", {"kcore"}},
      {"wcc", {"wcc"}},
      {"bp", {"bp", "--max-iterations", "3"}}};
  all.insert(all.end(), solvers.begin(), solvers.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Families, MemoryOfRanks, testing::ValuesIn(families()), [](const auto& family) {
  std::string name = family.param.name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace sluice::test
