// Ranks on four hosts, one on each, that communicate by TCP only (scripts/hosts), give the bytes of one
// process.
#include <array>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "mpi/ranks.hpp"
#include "paths.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr int kHosts = 4;
using Parts = std::array<std::pair<const char*, int>, 2>;
/// Parts of the matrix and their numbers of cells. A sanitizer is ten times slower, so it runs two kinds
/// only.
constexpr Parts kParts =
    unless_sanitized(Parts{{{"walk", 301}, {"sample", 289}}}, Parts{{{"biased", 38}, {"snowball", 38}}});
/// The exit status of scripts/hosts if it cannot make hosts.
constexpr int kNoHosts = 77;

class OnHosts : public MpiTest {
 protected:
  void SetUp() override {
    MpiTest::SetUp();
    if (IsSkipped()) return;
    const auto tried = on_hosts({"true"});
    if (tried.status == kNoHosts) GTEST_SKIP() << tried.err;
    ASSERT_EQ(tried.status, 0) << tried.err;
  }

  static Finished on_hosts(std::vector<std::string> program) {
    // The environment of on_ranks().
    std::vector<std::string> words{"/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0",
                                   std::string(paths::kSource) + "/scripts/hosts", std::to_string(kHosts)};
    words.insert(words.end(), program.begin(), program.end());
    return Process(words).wait(std::chrono::seconds(300));
  }
};

TEST_F(OnHosts, HaveARankEach) {
  const auto finished = on_hosts({"sh", "-c", "echo $(hostname) $OMPI_COMM_WORLD_LOCAL_SIZE"});

  std::set<std::string> names;
  std::istringstream lines(finished.out);
  for (std::string name, ranks; lines >> name >> ranks; names.insert(name)) EXPECT_EQ(ranks, "1");
  EXPECT_EQ(names.size(), kHosts) << finished.out;
}

TEST_F(OnHosts, WalksAndSamplesOfTheWholeMatrixAreTheSame) {
  const auto prepared = Process({paths::kMatrix, "prepare", folder_.path().string(), "300"}).wait();
  ASSERT_EQ(prepared.status, 0) << prepared.err;

  for (const auto& [name, cells] : kParts) {
    const auto finished = on_hosts({paths::kMatrix, "run", folder_.path().string(), "--only", name,
                                    "--device", "host", "--threads", "1"});
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    EXPECT_EQ(finished.out, std::to_string(cells) + " cells on 4 ranks, 0 different\n");
  }
}

TEST_F(OnHosts, SolversGiveTheSame) {
  run({"generate", "kronecker", "--scale", "10", "--undirected", "--weights", "uniform", "--output",
       at("graph.h5"), "--quiet"});
  run({"pagerank", at("graph.h5"), "--quiet", "--output", at("old.h5")});
  std::ofstream(at("insert.txt")) << "1 900 1\n5 77 0.5\n600 2 1\n";
  std::ofstream(at("coupling.txt")) << "3 1\n1 2\n";
  std::ofstream priors(at("priors.txt"));
  for (int v = 0; v < 1024; ++v) priors << 1 + v % 3 << " 2\n";
  priors.close();
  const std::vector<std::vector<std::string>> jobs{
      {"pagerank"},
      {"ppr", "--top", "20", "--length", "3", "--instances", "50"},
      {"ppr", "--top", "20", "--method", "montecarlo", "--walks", "100", "--instances", "50"},
      {"bfs", "--source", "1"},
      {"sssp", "--source", "1"},
      {"wcc"},
      {"kcore"},
      {"bp", "--priors", at("priors.txt"), "--coupling", at("coupling.txt"), "--max-iterations", "9"},
      {"pagerank", "--method", "dfp", "--previous", at("old.h5"), "--insert", at("insert.txt")}};
  for (std::vector<std::string> job : jobs) {
    job.insert(job.begin() + 1, at("graph.h5"));
    job.insert(job.end(), {"--device", "host", "--threads", "1", "--quiet", "--force"});
    std::vector<std::string> alone = job, shared = job;
    alone.insert(alone.end(), {"--output", at("alone.h5")});
    run(alone);
    for (const char* const distribution : {"replicate", "shard"}) {
      SCOPED_TRACE(job[0] + " " + distribution);
      std::vector<std::string> words{paths::kProgram};
      words.insert(words.end(), shared.begin(), shared.end());
      words.insert(words.end(), {"--distribution", distribution, "--output", at("hosts.h5")});
      const auto finished = on_hosts(words);
      EXPECT_EQ(finished.status, 0) << finished.err;
      EXPECT_EQ(read_file(at("alone.h5")), read_file(at("hosts.h5")));
    }
  }
}

TEST_F(OnHosts, OneThatFailsEndsTheJobWithOneLine) {
  const auto finished = on_hosts({paths::kProgram, "walk", at("missing.h5"), "--kind", "uniform", "--output",
                                  at("walks.h5"), "--device", "host", "--threads", "1"});

  EXPECT_NE(finished.status, 0);
  const auto line = finished.err.find("sluice: ");
  ASSERT_NE(line, std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("missing.h5", line), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find("sluice: ", line + 1), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace sluice::test
