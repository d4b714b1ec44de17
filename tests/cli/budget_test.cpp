// Budgets are kept, by the peaks of the report and by the system's count for the process.
#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMiB = 1u << 20;
/// Memory that no budget counts: buffers of libraries, stacks, and pages that malloc keeps.
constexpr std::uint64_t kUncounted = 16 * kMiB;

constexpr bool kSystemCounts = !kSanitized;  // a sanitizer's shadow memory would count

struct Ceilings {
  std::uint64_t host, device;  ///< MiB; device 0: no limit
};

class Budget : public CliTest {
 protected:
  /// 4 million weighted edges: 33 MiB in memory.
  std::string large() { return graph("kronecker", 17, {"--undirected", "--weights", "uniform"}); }

  Json report_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "host", "--threads", "2", "--quiet", "--force", "--output",
                                       at("out.h5"), "--report", at("report.json")});
    run(std::move(arguments));
    return Json::parse(read_file(at("report.json")));
  }

  /// Resident bytes of the program with almost no work.
  std::uint64_t empty_run() {
    const auto tiny = graph("ring", 4, {});
    return report_of({"walk", tiny, "--length", "2"})["peak_resident_bytes"];
  }

  void expect_kept(const std::vector<std::string>& job, const Ceilings& ceilings) {
    std::vector<std::string> arguments{job[0], large(), "--host-memory",
                                       std::to_string(ceilings.host) + "MiB"};
    arguments.insert(arguments.end(), job.begin() + 1, job.end());
    if (ceilings.device != 0)
      arguments.insert(arguments.end(), {"--device-memory", std::to_string(ceilings.device) + "MiB"});
    std::string name;
    for (const std::string& word : arguments) name += word + ' ';
    SCOPED_TRACE(name);
    if (empty_ == 0) empty_ = empty_run();

    const Json report = report_of(arguments);

    EXPECT_GT(report["sampled_edges"], 0);
    EXPECT_LE(report["peak_host_bytes"], ceilings.host * kMiB);
    if (ceilings.device != 0) {
      EXPECT_LE(report["peak_device_bytes"], ceilings.device * kMiB);
    }
    const std::uint64_t resident = report["peak_resident_bytes"];
    if (kSystemCounts) {
      EXPECT_LE(resident, empty_ + ceilings.host * kMiB + kUncounted);
    }
  }

 private:
  std::uint64_t empty_ = 0;
};

/// The graph is in host memory, in partitions, or larger than host memory.
constexpr Ceilings kCeilings[] = {{64, 0}, {64, 8}, {16, 8}};

TEST_F(Budget, OfWalks) {
  for (const Ceilings& ceilings : kCeilings) {
    expect_kept({"walk", "--kind", "uniform", "--length", "20"}, ceilings);
    // The tables of node2vec do not fit beside a graph that is whole in host memory.
    const char* const kind = ceilings.device == 0 ? "metropolis-hastings" : "node2vec";
    expect_kept({"walk", "--kind", kind, "--length", "5", "--instances", "20000"}, ceilings);
    expect_kept({"walk", "--kind", "multidimensional", "--frontier-size", "100", "--instances", "20000",
                 "--length", "30"},
                ceilings);
  }
}

TEST_F(Budget, OfSamples) {
  for (const Ceilings& ceilings : kCeilings) {
    expect_kept({"sample", "--kind", "neighbor", "--fanout", "15,10", "--instances", "20000"}, ceilings);
    expect_kept({"sample", "--kind", "forest-fire", "--depth", "2", "--instances", "50000"}, ceilings);
    expect_kept({"sample", "--kind", "snowball", "--depth", "1", "--instances", "20000"}, ceilings);
    expect_kept({"sample", "--kind", "edge", "--count", "20000", "--instances", "200"}, ceilings);
  }
}

TEST_F(Budget, OfQueries) {
  for (const Ceilings& ceilings : kCeilings) {
    expect_kept({"ppr", "--method", "push", "--residual-threshold", "1e-5", "--instances", "2000"}, ceilings);
    expect_kept({"ppr", "--method", "meloppr", "--stages", "2,1", "--expand", "0.01", "--instances", "100"},
                ceilings);
    expect_kept({"ppr", "--method", "montecarlo", "--walks", "1000", "--instances", "200"}, ceilings);
    expect_kept({"ppr", "--length", "2", "--weighted", "--instances", "100"}, ceilings);
  }
}

/// Inserted vertices follow all others, so original ids are out of order and need a look-up table.
TEST_F(Budget, OfOriginalIds) {
  std::string edges;
  for (int i = 0; i < 50'000; ++i) edges += std::to_string(1000 + i) + ' ' + std::to_string(1001 + i) + '\n';
  write_file(at("edges.txt"), edges);
  write_file(at("late.txt"), "1 2\n");
  run({"convert", at("edges.txt"), at("early.h5"), "--compact", "--reverse"});
  run({"pagerank", at("early.h5"), "--insert", at("late.txt"), "--original-ids", "--output-graph",
       at("late.h5"), "--output", at("ranks.h5")});
  const std::vector<std::string> walk{"walk", at("late.h5"), "--instances", "10", "--length", "2"};
  std::vector<std::string> original = walk;
  original.push_back("--original-ids");

  const std::uint64_t engine_ids = report_of(walk)["peak_host_bytes"],
                      ids = report_of(original)["peak_host_bytes"];

  EXPECT_GE(ids, engine_ids + 50'003 * 4);
}

TEST_F(Budget, OfWhatUsersBring) {
  const auto tiny = graph("ring", 4, {"--reverse"});
  const std::uint64_t empty = empty_run();
  std::string ids, edges;
  for (int i = 0; i < 2'000'000; ++i) ids += "7\n";
  for (int i = 0; i < 1'000'000; ++i) edges += std::to_string(i % 16) + " " + std::to_string(i % 1000) + "\n";
  write_file(at("ids.txt"), ids);
  write_file(at("edges.txt"), edges);
  std::replace(ids.begin(), ids.end(), '\n', ' ');
  write_file(at("pool.txt"), ids);
  struct {
    std::vector<std::string> job;
    const char* refused_for;
    std::uint64_t held;  ///< a lower bound
  } const inputs[] = {
      {{"ppr", "--starts", at("ids.txt"), "--length", "1", "--top", "1"},
       "host memory: the list of starts",
       40'000'000},
      {{"walk", "--starts", at("ids.txt"), "--length", "1"}, "host memory: the list of starts", 8'000'000},
      {{"walk", "--kind", "multidimensional", "--starts", at("pool.txt"), "--length", "1"},
       "host memory: a line of starts",
       36'000'000},
      {{"pagerank", "--insert", at("edges.txt")}, "of host memory, but 4.00 MiB are allowed", 16'000'000},
      {{"pagerank", "--delete", at("edges.txt")}, "of host memory, but 4.00 MiB are allowed", 16'000'000},
  };
  for (const auto& input : inputs) {
    SCOPED_TRACE(input.job[0] + " " + input.job[1]);
    std::vector<std::string> words{input.job[0], tiny};
    words.insert(words.end(), input.job.begin() + 1, input.job.end());

    const Json report = report_of(words);

    EXPECT_GE(report["peak_host_bytes"], input.held);
    const std::uint64_t counted = report["peak_host_bytes"], resident = report["peak_resident_bytes"];
    if (kSystemCounts) {
      EXPECT_LE(resident, empty + counted + kUncounted);
    }
    words.insert(words.end(), {"--device", "host", "--output", at("none.h5"), "--host-memory", "4MiB"});
    refuse(4, input.refused_for, words);
    words.emplace_back("--plan");
    refuse(4, input.refused_for, words);
  }
}

TEST_F(Budget, PlansHoldWhatUsersBring) {
  std::string ids;
  for (int i = 0; i < 2'000'000; ++i) ids += "7\n";
  write_file(at("ids.txt"), ids);
  // Vertices, offsets and weights: 20 bytes a query.
  const auto planned =
      run({"ppr", graph("ring", 4, {}), "--starts", at("ids.txt"), "--length", "1", "--top", "1", "--device",
           "host", "--host-memory", "1GiB", "--output", at("o.h5"), "--plan"})
          .out;
  const auto line = planned.find("host memory");
  ASSERT_NE(line, planned.npos) << planned;

  EXPECT_GE(std::stod(planned.substr(line + 11)), 38) << planned;
  EXPECT_NE(planned.substr(line, 50).find(" MiB of 1.00 GiB"), planned.npos) << planned;
}

TEST_F(Budget, SolversThatFitTheirPlanEnd) {
  // 65,536 vertices, 14 MiB in memory. Budgets are too small, enough for lists in the file, or enough for
  // all.
  const auto file = graph("kronecker", 16, {"--undirected", "--weights", "uniform"});
  run({"pagerank", file, "--output", at("old.h5"), "--quiet", "--device", "host"});
  std::ofstream(at("edges.txt")) << "1 2 0.5\n3 65600 1\n";
  for (const std::vector<std::string>& solver :
       {std::vector<std::string>{"pagerank"},
        {"pagerank", "--weighted", "--dangling", "self-loop"},
        {"pagerank", "--method", "dfp", "--previous", at("old.h5"), "--insert", at("edges.txt")},
        {"wcc"},
        {"bfs", "--source", "1"},
        {"sssp", "--source", "1"},
        {"kcore"}}) {
    bool fitted = false;
    unsigned refused = 0;
    for (const unsigned mib : {1, 2, 5, 8, 14, 16, 24}) {
      SCOPED_TRACE(solver[0] + ", MiB: " + std::to_string(mib));
      std::vector<std::string> words{solver[0],   file,       "--device",      "host",
                                     "--threads", "1",        "--quiet",       "--force",
                                     "--output",  at("o.h5"), "--host-memory", std::to_string(mib) + "MiB"};
      words.insert(words.end(), solver.begin() + 1, solver.end());
      const int status = sluice(words).status;
      words.emplace_back("--plan");

      EXPECT_EQ(sluice(words).status, status) << "the plan says something else";
      EXPECT_TRUE(status == 4 || status == 0);
      EXPECT_FALSE(fitted && status != 0) << "less was enough";
      fitted = fitted || status == 0;
      refused += status == 4;
    }
    EXPECT_TRUE(fitted) << solver[0];
    EXPECT_GT(refused, 0u) << solver[0];
  }
}

TEST_F(Budget, OfSamplesOfTheWholeGraph) {
  expect_kept({"sample", "--kind", "snowball", "--depth", "2", "--instances", "100"}, {64, 0});
  expect_kept({"sample", "--kind", "layer", "--layer-size", "1000,1000", "--instances", "2000"}, {64, 0});
  expect_kept({"sample", "--kind", "node", "--count", "10000", "--instances", "200"}, {64, 0});
}

}  // namespace
}  // namespace sluice::test
