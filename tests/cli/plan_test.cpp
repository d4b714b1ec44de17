// A plan and the run agree for every budget, since the same code charges both.
#include <cmath>
#include <string>

#include "cli/cli.hpp"
#include "cli/one_process.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr int kBudgets = unless_sanitized(24, 6);

struct PlannedJob {
  std::string name;
  std::vector<std::string>
      arguments;  ///< the command, then options; the graph is inserted second; @FILE: in the test's folder
  std::string option;
  double least, most;  ///< bytes
  bool directed = false, multigraph = false;
};

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
      {"followed_ranks_in_place",
       {"pagerank", "--method", "dfp", "--previous", "@ranks.h5", "--insert", "@known.txt", "--partitions",
        "8", "--transport", "mapped"},
       "--device-memory",
       32600,
       33300},
      {"components", {"wcc"}, "--host-memory", 120000, 300000},
      {"searched", {"bfs", "--source", "1"}, "--host-memory", 150000, 350000},
      {"paths", {"sssp", "--source", "1"}, "--host-memory", 150000, 350000},
      {"cores", {"kcore"}, "--host-memory", 120000, 300000},
      {"cores_of_a_multigraph", {"kcore"}, "--host-memory", 120000, 900000, false, true},
      {"cores_of_both_directions", {"kcore"}, "--host-memory", 300000, 700000, true},
      {"beliefs",
       {"bp", "--priors", "@priors.txt", "--coupling", "@coupling.txt"},
       "--host-memory",
       300000,
       3e6},
      {"beliefs_in_slots",
       {"bp", "--priors", "@priors.txt", "--coupling", "@coupling.txt"},
       "--device-memory",
       30000,
       3e6},
      {"ranks", {"pagerank"}, "--host-memory", 120000, 400000},
      {"ranks_by_weight", {"pagerank", "--weighted"}, "--host-memory", 150000, 450000},
      {"ranks_in_slots", {"pagerank"}, "--device-memory", 30000, 90000},
      {"ranks_by_made_in_edges", {"pagerank"}, "--host-memory", 200000, 700000, true},
      {"ranks_after_batch", {"pagerank", "--insert", "@inserted.txt"}, "--host-memory", 150000, 450000},
      {"ranks_of_grown_graph", {"pagerank", "--insert", "@inserted.txt"}, "--device-memory", 48500, 51500},
      {"queries",
       {"ppr", "--length", "4", "--instances", "20", "--top", "20"},
       "--host-memory",
       100000,
       260000},
      {"pushes",
       {"ppr", "--method", "push", "--residual-threshold", "1e-3", "--instances", "20", "--top", "20"},
       "--host-memory",
       100000,
       260000},
      {"stages",
       {"ppr", "--method", "meloppr", "--stages", "2,2", "--instances", "20", "--top", "20"},
       "--host-memory",
       100000,
       260000},
      {"walked_queries",
       {"ppr", "--method", "montecarlo", "--walks", "100", "--length", "10", "--instances", "20", "--top",
        "20"},
       "--host-memory",
       100000,
       260000},
      {"walks", {"walk", "--length", "10"}, "--host-memory", 100000, 260000},
      {"walks_in_slots", {"walk", "--length", "10"}, "--device-memory", 40000, 120000},
      {"walks_in_partitions",
       {"walk", "--length", "10", "--partitions", "8"},
       "--device-memory",
       40000,
       200000},
      {"biased", {"walk", "--kind", "biased", "--length", "10"}, "--host-memory", 130000, 350000},
      {"biased_in_place",
       {"walk", "--kind", "biased", "--length", "10", "--instances", "10", "--transport", "mapped"},
       "--host-memory",
       250000,
       1.5e6},
      {"biased_neighbors_in_place",
       {"sample", "--fanout", "3,2", "--bias", "weight", "--instances", "10", "--transport", "mapped"},
       "--host-memory",
       250000,
       1.5e6},
      {"node2vec", {"walk", "--kind", "node2vec", "--length", "10"}, "--host-memory", 130000, 350000},
      {"node2vec_in_slots",
       {"walk", "--kind", "node2vec", "--length", "10"},
       "--device-memory",
       50000,
       200000},
      {"metropolis",
       {"walk", "--kind", "metropolis-hastings", "--length", "10"},
       "--host-memory",
       100000,
       260000},
      {"neighbors",
       {"sample", "--kind", "neighbor", "--fanout", "3,2", "--instances", "50"},
       "--host-memory",
       100000,
       260000},
      {"layers",
       {"sample", "--kind", "layer", "--layer-size", "10,10", "--instances", "50"},
       "--host-memory",
       100000,
       260000},
      {"nodes",
       {"sample", "--kind", "node", "--count", "200", "--instances", "50"},
       "--host-memory",
       130000,
       350000},
      {"fires",
       {"sample", "--kind", "forest-fire", "--depth", "2", "--instances", "50"},
       "--device-memory",
       50000,
       200000},
  };
}

class PlanOf : public CliTest, public testing::WithParamInterface<PlannedJob> {};

TEST_P(PlanOf, SaysWhatTheRunSays) {
  const PlannedJob& planned = GetParam();
  std::vector<std::string> shape{"--weights", "uniform"};
  if (!planned.directed) shape.emplace_back("--undirected");
  std::string input = graph("kronecker", 11, shape);
  if (planned.multigraph) {
    std::string edges;
    for (int i = 0; i < 30000; ++i)
      edges += std::to_string(i * 37 % 2048) + ' ' + std::to_string(i * i % (i % 3 == 0 ? 30 : 2048)) + '\n';
    write_file(at("edges.txt"), edges);
    input = at("multigraph.h5");
    run({"convert", at("edges.txt"), input, "--undirected", "--keep-duplicates", "--keep-self-loops",
         "--quiet"});
  }
  std::string priors;
  for (int v = 0; v < 2048; ++v) priors += v % 3 == 0 ? "1 2\n" : "1 1\n";
  write_file(at("priors.txt"), priors);
  write_file(at("coupling.txt"), "2 1\n1 2\n");
  std::vector<std::vector<std::string>> jobs{
      {"pagerank", input, "--device", "host", "--quiet", "--output", at("ranks.h5")}};
  write_file(at("inserted.txt"), "1 2 1\n5 900 1\n3 2100 1\n");
  write_file(at("known.txt"), "1 2 1\n5 900 1\n");
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
  refuse(4, "one sample can need up to ", with(some, all));
  refuse(4, " MiB of host memory, for any sample) of device memory, but 1 B ", with(some, "1B"));
  run(with(all, all));
}

/// The vertices that a query reaches are unknown before it runs: a job may be refused although its plan fits.
TEST_F(PlanCli, SaysWhatAnyQueryNeeds) {
  const std::string input = graph("kronecker", 11, {"--undirected"});
  const auto with = [&](const std::string& device) {
    std::vector<std::string> job{"ppr", input, "--length", "4", "--top", "20", "--instances", "20"};
    job.insert(job.end(), {"--device", "host", "--threads", "1", "--quiet", "--output", at("out.h5")});
    job.insert(job.end(), {"--device-memory", device});
    return job;
  };
  std::vector<std::string> planned = with("20000B");
  planned.emplace_back("--plan");

  const std::string plan = run(planned).out;

  const auto between = [](const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t begin = text.find(before), end = text.find(after, begin);
    EXPECT_NE(end, std::string::npos) << text;
    std::string size = text.substr(begin + before.size(), end - begin - before.size());
    std::erase(size, ' ');
    return size;
  };
  refuse(4, " of device memory, but 19.53 KiB are allowed", with("20000B"));
  const std::string refusal = sluice(with("20000B")).err;
  run(with(between(plan, "allowed (", " for any query)")));
  std::vector<std::string> enough =
      with(between(refusal, "for any of them the job needs ", " of device memory"));
  enough.emplace_back("--force");
  run(enough);
}

/// Offsets that memory cannot hold are read from the file.
TEST_F(PlanCli, SaysWhatIsNeededWhereOffsetsDoNotFit) {
  const std::string input = graph("kronecker", 14, {"--undirected"});
  const auto with = [&](const std::string& host, const std::string& device) {
    std::vector<std::string> job{"bfs", input, "--source", "1", "--device", "host", "--threads", "1"};
    job.insert(job.end(), {"--quiet", "--output", at("out.h5"), "--host-memory", host});
    job.insert(job.end(), {"--device-memory", device});
    return job;
  };

  refuse(4, "the job needs 771.66 KiB of host memory, but 39.06 KiB are allowed (raise --host-memory)",
         with("40000B", "1MiB"));
  refuse(4, "needs 771.66 KiB of host memory and 422.76 KiB of device memory, but 39.06 KiB and 1000 B",
         with("40000B", "1000B"));
  refuse(4, "the job needs 771.99 KiB of host memory, but 766.00 KiB", with("766KiB", "1MiB"));
  run(with("772KiB", "1MiB"));
}

INSTANTIATE_TEST_SUITE_P(OfJobs, PlanOf, testing::ValuesIn(planned_jobs()),
                         [](const auto& planned) { return planned.param.name; });

}  // namespace
}  // namespace sluice::test
