// Jobs over a grid of budgets. No job fails above a budget that suffices, and results are the same for all
// budgets. A refused job runs with the budget that its message names.
#include <cmath>
#include <fstream>
#include <regex>

#include "cli/cli.hpp"
#include "cli/one_process.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr int kBudgets = unless_sanitized(40, 4);

struct GridJob {
  std::string name;
  std::vector<std::string> arguments;  ///< words in capitals are files that file() makes
};

std::vector<GridJob> grid_jobs() {
  const auto walk = [](const std::string& kind, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"walk", "GRAPH", "--kind", kind, "--length", "4"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto sample = [](const std::string& kind, const std::string& bias, std::vector<std::string> more) {
    std::vector<std::string> all{"sample", "GRAPH", "--kind", kind, "--bias", bias, "--instances", "20"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  return {
      {"uniform", walk("uniform")},
      {"uniform_alias", walk("uniform", {"--select", "alias"})},
      {"biased", walk("biased")},
      {"biased_its", walk("biased", {"--select", "its"})},
      {"degree_rejection", walk("biased", {"--bias", "degree", "--select", "rejection"})},
      {"node2vec", walk("node2vec", {"--p", "0.5"})},
      {"metropolis_hastings", walk("metropolis-hastings")},
      {"jump", walk("jump", {"--probability", "0.2"})},
      {"restart", walk("restart", {"--probability", "0.2"})},
      {"pools", walk("multidimensional", {"--frontier-size", "20", "--instances", "20"})},
      {"neighbor", sample("neighbor", "weight", {"--fanout", "3,3"})},
      {"neighbor_replaced", sample("neighbor", "degree", {"--fanout", "3,3", "--replace"})},
      {"forest_fire", sample("forest-fire", "weight", {"--depth", "2"})},
      {"snowball", {"sample", "GRAPH", "--kind", "snowball", "--depth", "1", "--instances", "20"}},
      {"layer", sample("layer", "weight", {"--layer-size", "20,20"})},
      {"layer_degree", sample("layer", "degree", {"--layer-size", "20,20"})},
      {"node", {"sample", "GRAPH", "--kind", "node", "--count", "50", "--instances", "20"}},
      {"edge", {"sample", "GRAPH", "--kind", "edge", "--count", "50", "--instances", "20"}},
      {"kcore", {"kcore", "GRAPH"}},
      {"bfs", {"bfs", "GRAPH", "--source", "0"}},
      {"sssp", {"sssp", "GRAPH", "--source", "0"}},
      {"wcc", {"wcc", "GRAPH"}},
      {"bp", {"bp", "GRAPH", "--priors", "PRIORS", "--coupling", "COUPLING", "--max-iterations", "5"}},
      {"pagerank", {"pagerank", "GRAPH", "--tolerance", "1e-4"}},
      {"pagerank_dynamic",
       {"pagerank", "GRAPH", "--previous", "RANKS", "--insert", "EDGES", "--method", "dfp"}},
      {"ppr", {"ppr", "GRAPH", "--length", "3", "--instances", "10", "--top", "5"}},
      {"ppr_push", {"ppr", "GRAPH", "--method", "push", "--tolerance", "1e-1", "--instances", "10"}},
      {"ppr_stages", {"ppr", "GRAPH", "--method", "meloppr", "--stages", "2,1", "--instances", "10"}},
      {"ppr_walks", {"ppr", "GRAPH", "--method", "montecarlo", "--walks", "100", "--instances", "10"}},
  };
}

class BudgetGrid : public CliTest, public testing::WithParamInterface<GridJob> {
 protected:
  static constexpr unsigned kScale = 11;

  /// 2,048 vertices and 14,000 weighted edges: 130 KiB in memory, and tables of 170 KiB.
  std::string input() {
    // kcore works on parts of undirected graphs only, and bp on undirected graphs only.
    const bool both_ways = GetParam().name == "kcore" || GetParam().name == "bp";
    return graph("rmat", kScale,
                 {"--edge-factor", both_ways ? "4" : "8", "--weights", "uniform",
                  both_ways ? "--undirected" : "--reverse"});
  }

  /// The file that a word of a job stands for; other words are returned unchanged.
  std::string file(const std::string& word) {
    if (word == "GRAPH") return input();
    if (word == "RANKS") {
      if (!std::filesystem::exists(at(word)))
        run({"pagerank", input(), "--tolerance", "1e-10", "--device", "host", "--quiet", "--output",
             at(word)});
      return at(word);
    }
    if (word == "EDGES") return text(word, "1 2 0.5\n3 4 0.25\n5 2000 1\n");
    if (word == "COUPLING") return text(word, "0.9 0.1\n0.1 0.9\n");
    if (word != "PRIORS") return word;
    std::string rows;
    for (unsigned v = 0; v < 1u << kScale; ++v) rows += v % 3 == 0 ? "7 2\n" : "1 1\n";
    return text(word, rows);
  }
  std::string text(const std::string& name, const std::string& content) {
    std::ofstream(at(name)) << content;
    return at(name);
  }

  std::vector<std::string> job_with(const std::vector<std::string>& memory, const std::string& output) {
    std::vector<std::string> arguments = GetParam().arguments;
    for (std::string& argument : arguments) argument = file(argument);
    arguments.insert(arguments.end(),
                     {"--device", "host", "--threads", "1", "--quiet", "--force", "--output", output});
    arguments.insert(arguments.end(), memory.begin(), memory.end());
    return arguments;
  }

  /// Runs with kBudgets sizes from `least` to `most` in geometric progression.
  void expect_monotone(const std::string& option, double least, double most) {
    std::vector<std::string> sizes, outputs;
    std::vector<std::vector<std::string>> jobs;
    for (int i = 0; i < kBudgets; ++i) {
      const double bytes = least * std::pow(most / least, i / (kBudgets - 1.0));
      sizes.push_back(std::to_string(static_cast<std::uint64_t>(bytes)));
      outputs.push_back(at("out" + std::to_string(i) + ".h5"));
      jobs.push_back(job_with({option, sizes.back()}, outputs.back()));
    }
    const std::vector<Finished> finished = run_in_one_process(folder_, jobs);
    std::string expected, first;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (finished[i].status == 4 && expected.empty()) continue;
      ASSERT_EQ(finished[i].status, 0)
          << option << ' ' << sizes[i] << " fails, and " << first << " works: " << finished[i].err;
      const std::string result = read_file(outputs[i]);
      if (expected.empty()) expected = result, first = sizes[i];
      ASSERT_TRUE(result == expected) << option << ' ' << sizes[i] << ": another result than with " << first;
    }
    EXPECT_FALSE(expected.empty()) << option << ": not even " << most;
  }
};

/// The options that a refused job's message asks for.
std::vector<std::string> named(const std::string& line) {
  static const std::regex kNeed(
      "([0-9.]+ [KMG]?i?B)( \\(([0-9.]+ [KMG]?i?B) for any [a-z]+\\))? of (host|device) memory");
  const std::size_t from = line.find("the job needs ");
  std::vector<std::string> options;
  if (from == std::string::npos) return options;
  for (std::sregex_iterator need(line.begin() + static_cast<std::ptrdiff_t>(from), line.end(), kNeed), end;
       need != end; ++need) {
    std::string size = (*need)[3].matched ? (*need)[3] : (*need)[1];
    size.erase(std::remove(size.begin(), size.end(), ' '), size.end());
    options.insert(options.end(), {"--" + std::string((*need)[4]) + "-memory", size});
  }
  return options;
}

TEST_P(BudgetGrid, WorksWithWhatARefusalNames) {
  for (const std::vector<std::string>& little : {std::vector<std::string>{"--device-memory", "20KiB"},
                                                 {"--host-memory", "100KiB"},
                                                 {"--device-memory", "20KiB", "--host-memory", "100KiB"}}) {
    std::vector<std::string> memory = little;
    Finished finished = sluice(job_with(memory, at("out.h5")));
    if (finished.status != 0) {
      ASSERT_EQ(finished.status, 4) << finished.err;
      const std::vector<std::string> needs = named(finished.err);
      ASSERT_FALSE(needs.empty()) << finished.err;
      for (std::size_t i = 0; i < needs.size(); i += 2) {
        const auto option = std::find(memory.begin(), memory.end(), needs[i]);
        ASSERT_TRUE(option != memory.end()) << finished.err;
        option[1] = needs[i + 1];
      }
      finished = sluice(job_with(memory, at("out.h5")));
    }
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
}

TEST_P(BudgetGrid, MoreMemoryNeverFailsWhereLessWorks) {
  expect_monotone("--device-memory", 32 << 10, 512 << 10);
  expect_monotone("--host-memory", 80 << 10, 2 << 20);
}

INSTANTIATE_TEST_SUITE_P(Jobs, BudgetGrid, testing::ValuesIn(grid_jobs()),
                         [](const auto& job) { return job.param.name; });

}  // namespace
}  // namespace sluice::test
