// --plan and the run say the same of every budget: each is charged by the same code.
#include <cmath>

#include "cli/cli.hpp"
#include "cli/one_process.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr int kBudgets = unless_sanitized(24, 6);

struct PlannedJob {
  std::string name;
  std::vector<std::string> arguments;  ///< behind the graph; @FILE is in the test's folder
  std::string option;
  double least, most;  ///< bytes
};

/// The first word of `arguments` is the command.
std::vector<PlannedJob> planned_jobs() {
  return {
      {"bfs", {"bfs", "--source", "1"}, "--device-memory", 36000, 60000},
      {"sssp", {"sssp", "--source", "1"}, "--device-memory", 24000, 40000},
      {"wcc", {"wcc"}, "--device-memory", 16000, 24000},
      {"kcore", {"kcore"}, "--device-memory", 16000, 24000},
      {"checked_walks", {"walk", "--length", "10", "--verify"}, "--host-memory", 130000, 300000},
      {"edges", {"sample", "--kind", "edge", "--count", "1000"}, "--host-memory", 50000, 100000},
      {"pools",
       {"walk", "--kind", "multidimensional", "--frontier-size", "20", "--length", "50", "--instances", "50"},
       "--host-memory",
       140000,
       260000},
      {"followed_ranks",
       {"pagerank", "--method", "dfp", "--previous", "@ranks.h5", "--insert", "@inserted.txt"},
       "--host-memory",
       300000,
       450000},
  };
}

class PlanOf : public CliTest, public testing::WithParamInterface<PlannedJob> {};

TEST_P(PlanOf, SaysWhatTheRunSays) {
  const PlannedJob& planned = GetParam();
  const std::string input = graph("kronecker", 11, {"--undirected", "--weights", "uniform"});
  std::vector<std::vector<std::string>> jobs{
      {"pagerank", input, "--device", "host", "--quiet", "--output", at("ranks.h5")}};
  write_bytes(at("inserted.txt"), "1 2 1\n5 900 1\n3 2100 1\n");
  for (int i = 0; i < kBudgets; ++i) {
    const double bytes = planned.least * std::pow(planned.most / planned.least, i / (kBudgets - 1.0));
    std::vector<std::string> job = planned.arguments;
    job.insert(job.begin() + 1, input);
    for (std::string& word : job)
      if (word[0] == '@') word = at(word.substr(1));
    job.insert(job.end(), {"--device", "host", "--threads", "1", "--quiet", "--force", "--output",
                           at("out.h5"), planned.option, std::to_string(static_cast<std::uint64_t>(bytes))});
    jobs.push_back(job);
    job.emplace_back("--plan");
    jobs.push_back(job);
  }

  const std::vector<Finished> finished = run_in_one_process(folder_, jobs);

  int refused = 0, done = 0;
  for (std::size_t i = 1; i < jobs.size(); i += 2) {
    const std::string& bytes = jobs[i].back();
    const Finished &run = finished[i], &plan = finished[i + 1];
    EXPECT_EQ(plan.status, run.status) << planned.option << ' ' << bytes << ": " << run.err;
    if (run.status == 4) {
      EXPECT_EQ(plan.err, run.err) << planned.option << ' ' << bytes;
    }
    refused += run.status == 4, done += run.status == 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

class PlanCli : public CliTest {};

TEST_F(PlanCli, SaysWhatAnySampleNeeds) {
  const std::string input = graph("kronecker", 11, {"--undirected"}), all = "20MiB", some = "222000B";
  const auto with = [&](const std::string& host, const std::string& device) {
    std::vector<std::string> job{"sample", input, "--kind", "snowball", "--depth", "2", "--instances", "20"};
    job.insert(job.end(), {"--device", "host", "--threads", "1", "--quiet", "--output", at("out.h5")});
    job.insert(job.end(), {"--host-memory", host, "--device-memory", device});
    return job;
  };
  std::vector<std::string> planned = with(some, all);
  planned.emplace_back("--plan");

  const std::string plan = run(planned).out;

  EXPECT_NE(plan.find(" MiB for any sample)"), std::string::npos) << plan;
  refuse(4, "one sample can take up to ", with(some, all));
  refuse(4, " MiB of host memory, for any sample) of device memory, but 1 B ", with(some, "1B"));
  run(with(all, all));
}

/// Without its offsets in memory no plan can be made of a graph.
TEST_F(PlanCli, SaysWhereDeviceMemoryCannotBeSaid) {
  const std::string input = graph("kronecker", 14, {"--undirected"});
  std::vector<std::string> job{"bfs", input, "--source", "1", "--device", "host", "--threads", "1"};
  job.insert(job.end(), {"--quiet", "--output", at("out.h5"), "--host-memory", "40000B"});

  refuse(4, "(raise --host-memory)", job);
  job.insert(job.end(), {"--device-memory", "1MiB"});
  refuse(4, "(raise --host-memory; what it needs of --device-memory can be said then)", job);
}

INSTANTIATE_TEST_SUITE_P(OfJobs, PlanOf, testing::ValuesIn(planned_jobs()),
                         [](const auto& planned) { return planned.param.name; });

}  // namespace
}  // namespace sluice::test
