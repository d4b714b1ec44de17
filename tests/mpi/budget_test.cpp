// Budgets are kept on many ranks: they include what ranks receive, and the system counts no more for any
// rank.
#include <nlohmann/json.hpp>

#include <fstream>
#include <regex>
#include <string>

#include "mpi/ranks.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr std::uint64_t kMiB = 1u << 20;
/// Memory that no budget counts: buffers of libraries, copies for broadcasts, stacks, and pages that malloc
/// keeps.
constexpr std::uint64_t kUncounted = 24 * kMiB;

constexpr bool kSystemCounts = !kSanitized;  // a sanitizer's shadow memory would count

class BudgetOnRanks : public MpiTest {
 protected:
  /// 4 million weighted edges: 33 MiB in memory.
  std::string large() { return graph("kronecker", 17, {"--undirected", "--weights", "uniform"}); }

  Json report_of(int ranks, Words arguments) {
    arguments.insert(arguments.end(), {"--device", "host", "--threads", "1", "--quiet", "--force", "--output",
                                       at("out.h5"), "--report", at("report.json")});
    run_on(ranks, std::move(arguments));
    return Json::parse(read_file(at("report.json")));
  }

  /// `shared`: bytes of the graph in memory that all ranks share; the system counts them for each rank.
  void expect_kept(int ranks, Words job, std::uint64_t ceiling, std::uint64_t shared = 0) {
    job.insert(job.begin() + 1, {large(), "--host-memory", std::to_string(ceiling)});
    std::string name = std::to_string(ranks) + " ranks: ";
    for (const std::string& word : job) name += word + ' ';
    SCOPED_TRACE(name);
    if (empty_ == 0)
      empty_ = report_of(ranks, {"walk", graph("ring", 4, {}), "--length", "2"})["peak_resident_bytes"];

    const Json report = report_of(ranks, job);

    EXPECT_LE(report["peak_host_bytes"], ceiling);
    if (kSystemCounts) {
      EXPECT_LE(report["peak_resident_bytes"].get<std::uint64_t>(), empty_ + ceiling + shared + kUncounted);
    }
  }

 private:
  std::uint64_t empty_ = 0;
};

TEST_F(BudgetOnRanks, OfWorkThatTravels) {
  const auto shard = [&](Words job) {
    job.insert(job.end(), {"--distribution", "shard"});
    expect_kept(3, job, 24 * kMiB);
  };
  shard({"walk", "--kind", "uniform", "--length", "20"});
  shard({"walk", "--kind", "node2vec", "--length", "5", "--instances", "20000"});
  shard({"sample", "--kind", "neighbor", "--fanout", "15,10", "--instances", "20000"});
  shard({"sample", "--kind", "edge", "--count", "5000", "--instances", "200"});
  shard({"ppr", "--method", "push", "--residual-threshold", "1e-5", "--instances", "500"});
}

TEST_F(BudgetOnRanks, OfWhatRanksTellEachOther) {
  for (const Words& job : {Words{"bfs", "--source", "1"}, Words{"sssp", "--source", "1"}, Words{"wcc"},
                           Words{"pagerank", "--method", "static"}})
    expect_kept(2, job, 24 * kMiB, 33 * kMiB);
}

/// A job runs with the memory that its report names; with less it ends with a single line.
TEST_F(BudgetOnRanks, ARunThatIsTooLargeSaysSo) {
  const auto components = [&](std::uint64_t ceiling) {
    return sluice_on(2, {"wcc", large(), "--device", "host", "--threads", "1", "--quiet", "--host-memory",
                         std::to_string(ceiling), "--output", at("wcc.h5"), "--force"});
  };
  const std::uint64_t enough = report_of(2, {"wcc", large()})["peak_host_bytes"];

  EXPECT_EQ(components(enough).status, 0);
  std::filesystem::remove(at("wcc.h5"));
  // Lists that memory cannot hold stay in the file, but 131,073 offsets and the states of vertices must fit.
  for (const std::uint64_t less : {512u << 10, 1200u << 10}) {
    SCOPED_TRACE(less);
    const auto refused = components(less);

    EXPECT_EQ(refused.status, 4) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(at("wcc.h5")));
    const std::size_t line = refused.err.find("sluice: ");
    ASSERT_NE(line, std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--host-memory", line), std::string::npos) << refused.err;
    EXPECT_EQ(refused.err.find("sluice: ", line + 1), std::string::npos) << refused.err;
  }
}

/// The plan includes the requests that ranks send each other.
TEST_F(BudgetOnRanks, SamplesOfEdgesRunWhereTheirPlanFits) {
  const std::string file = graph("uniform", 12, {"--edge-factor", "16"});
  for (const Words& size : {Words{"60000", "1"}, Words{"200", "300"}}) {
    SCOPED_TRACE(size[0]);
    const auto status_with = [&](std::uint64_t ceiling, const Words& more) {
      Words words{
          "sample",      file,    "--kind",         "edge",    "--count",       size[0],
          "--instances", size[1], "--distribution", "shard",   "--device",      "host",
          "--threads",   "1",     "--quiet",        "--force", "--host-memory", std::to_string(ceiling)};
      words.insert(words.end(), more.begin(), more.end());
      return sluice_on(2, words).status;
    };
    std::uint64_t low = 1u << 20, high = 8u << 20;
    while (high - low > 64u << 10) {
      const std::uint64_t middle = low + (high - low) / 2;
      (status_with(middle, {"--plan"}) == 0 ? high : low) = middle;
    }

    EXPECT_LT(high, 8u << 20);
    EXPECT_EQ(status_with(high, {"--output", at("edges.h5")}), 0) << high;
    EXPECT_EQ(status_with(high - high / 4, {"--output", at("edges.h5")}), 4) << high;
  }
}

/// If ranks share out a graph, a refusal names the least memory of each rank, and suggests more ranks.
TEST_F(BudgetOnRanks, ARefusalNamesTheNeedOfEachRank) {
  const std::string graph_file = graph("kronecker", 14, {"--undirected", "--weights", "uniform"});
  const auto walk = [&](const std::string& ceiling) {
    return sluice_on(2, {"walk", graph_file, "--kind", "biased", "--length", "10", "--distribution", "shard",
                         "--device", "host", "--threads", "1", "--quiet", "--host-memory", ceiling,
                         "--output", at("walks.h5"), "--force"});
  };
  const auto refused = walk("600KiB");
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_NE(refused.err.find("sluice: the job needs at least "), std::string::npos) << refused.err;
  EXPECT_NE(
      refused.err.find(" of host memory on each rank, but 600.00 KiB are allowed (raise --host-memory, or "
                       "use more ranks)"),
      std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(at("walks.h5")));
  EXPECT_EQ(walk("24MiB").status, 0);
}

/// Only one rank has too little memory, since the other has no list.
TEST_F(BudgetOnRanks, ARefusalOfOneRankNamesTheNeed) {
  std::ofstream(at("edges.txt")) << "0 1\n0 2\n";
  run({"convert", at("edges.txt"), at("graph.h5"), "--quiet"});
  const auto refused =
      sluice_on(2, {"ppr", at("graph.h5"), "--method", "meloppr", "--distribution", "shard", "--device",
                    "host", "--threads", "1", "--quiet", "--device-memory", "60KiB", "--output", at("v.h5")});
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_NE(refused.err.find("sluice: rank 0: the job needs at least "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find(" of device memory on each rank, but 60.00 KiB are allowed"), std::string::npos)
      << refused.err;
}

/// A job of ranks runs with the memory that a refusal names for any part of the work, or for the whole job.
TEST_F(BudgetOnRanks, WorksWithWhatARefusalNames) {
  const std::string large_graph = graph("kronecker", 11, {}), small = graph("ring", 6, {}),
                    undirected = graph("kronecker", 12, {"--undirected"});
  std::ofstream(at("coupling.txt")) << "0.7 0.3\n0.3 0.7\n";
  std::ofstream priors(at("priors.txt"));
  for (int v = 0; v < 1 << 12; ++v) priors << "0.6 0.4\n";
  priors.close();
  for (const Words& job :
       {Words{"walk", large_graph, "--kind", "node2vec", "--length", "10"},
        Words{"sample", large_graph, "--kind", "layer", "--layer-size", "64,64"},
        Words{"sample", large_graph, "--kind", "node", "--count", "500", "--instances", "50"},
        Words{"ppr", large_graph, "--instances", "10"},
        Words{"ppr", small, "--instances", "10", "--method", "push"},
        Words{"bfs", large_graph, "--source", "1"}, Words{"sssp", large_graph, "--source", "1"},
        Words{"wcc", large_graph}, Words{"kcore", undirected}, Words{"pagerank", undirected},
        Words{"bp", undirected, "--priors", at("priors.txt"), "--coupling", at("coupling.txt"),
              "--max-iterations", "3"}}) {
    SCOPED_TRACE(testing::PrintToString(job));
    const auto run_with = [&](const std::string& memory) {
      Words words = job;
      words.insert(words.end(), {"--distribution", "shard", "--device", "host", "--quiet", "--device-memory",
                                 memory, "--output", at("out.h5"), "--force"});
      return sluice_on(3, std::move(words));
    };
    const auto refused = run_with("20KiB");
    ASSERT_EQ(refused.status, 4) << refused.err;
    std::smatch named;
    ASSERT_TRUE(std::regex_search(
        refused.err, named,
        std::regex(
            R"(needs at least ([0-9.]+ .?i?B)(?: \(([0-9.]+ .?i?B) for any \w+\))? of device memory)")))
        << refused.err;
    std::string memory = named[2].matched ? named[2] : named[1];
    std::erase(memory, ' ');

    const auto finished = run_with(memory);

    EXPECT_EQ(finished.status, 0) << memory << ": " << finished.err;
  }
}

}  // namespace
}  // namespace sluice::test
