// A plan of ranks that share out a graph agrees with the run.
#include <nlohmann/json.hpp>
#include <regex>

#include "engine/core/size.hpp"
#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

class ShardPlan : public MpiTest {
 protected:
  using Words = std::vector<std::string>;
  static constexpr int kRanks = 3;

  /// The output of --plan, and the report of the run.
  struct Planned {
    std::string said;
    nlohmann::json report;
  };
  Planned plan_and_run(Words words, const Words& more) {
    words.insert(words.begin() + 1, graph());
    words.insert(words.end(), {"--distribution", "shard"});
    words.insert(words.end(), more.begin(), more.end());
    Words plan = words;
    plan.push_back("--plan");
    words.insert(words.end(), {"--quiet", "--force", "--output", at("r.h5"), "--report", at("r.json")});
    Planned planned{run_on(kRanks, plan).out, {}};
    EXPECT_FALSE(std::filesystem::exists(at("r.h5"))) << "--plan has run something";
    run_on(kRanks, words);
    planned.report = nlohmann::json::parse(read_file(at("r.json")));
    std::filesystem::remove(at("r.h5"));
    return planned;
  }

  static std::uint64_t number_after(const std::string& text, const std::string& what) {
    std::smatch match;
    const bool found = std::regex_search(text, match, std::regex("(?:^|\n)" + what + " +([0-9]+)"));
    EXPECT_TRUE(found) << what << " is not in\n" << text;
    return found ? std::stoull(match[1]) : 0;
  }

  /// Counts the partitions that ranks own, given as [first, last] of each rank; the ranges must be
  /// contiguous.
  static std::uint64_t partitions_of_ranks(const std::string& text) {
    std::uint64_t next = 0;
    const std::regex line("rank [0-9]+ .*: partitions ([0-9]+) to ([0-9]+), vertices");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      EXPECT_EQ(std::stoull((*at)[1]), next) << text;
      next = std::stoull((*at)[2]) + 1;
    }
    return next;
  }
};

TEST_F(ShardPlan, CutsAndSharesAsTheRun) {
  const std::vector<Words> jobs{
      {"walk", "--length", "9"},
      {"walk", "--length", "9", "--kind", "node2vec", "--q", "2"},
      {"walk", "--length", "9", "--select", "alias"},
      {"walk", "--length", "9", "--kind", "multidimensional", "--frontier-size", "3", "--instances", "50"},
      {"sample", "--kind", "neighbor", "--fanout", "4,3"},
      {"sample", "--kind", "layer", "--layer-size", "5,4", "--bias", "weight"},
      {"sample", "--kind", "node", "--count", "40", "--instances", "9"}};
  const std::vector<Words> cuts{{}, {"--partitions", "7", "--slots", "2"}, {"--device-memory", "4200KiB"}};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const Words& cut : {cuts[0], cuts[1 + i % 2]}) {
      SCOPED_TRACE(jobs[i].back() + (cut.empty() ? "" : ", " + cut[0]));
      const Planned planned = plan_and_run(jobs[i], cut);
      const auto partitions = planned.report["partitions"].get<std::uint64_t>();

      EXPECT_EQ(number_after(planned.said, "partitions"), partitions) << planned.said;
      EXPECT_EQ(number_after(planned.said, "ranks that share them"), std::uint64_t{kRanks});
      EXPECT_EQ(partitions_of_ranks(planned.said), partitions);
    }
  }
}

TEST_F(ShardPlan, SaysWhatAllRanksWriteTogether) {
  const auto result_of = [](const std::string& text) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex("\nresult +([^\n]+)"))) << text;
    return match.str(1);
  };
  // Each rank has equally many, since plans assume the largest share.
  const Words words{"walk", graph(), "--length", "9", "--instances", "300", "--plan"};
  Words shared = words;
  shared.insert(shared.end(), {"--distribution", "shard"});
  const std::string alone = result_of(run(words).out);

  EXPECT_EQ(result_of(run_on(kRanks, words).out), alone);
  EXPECT_EQ(result_of(run_on(kRanks, shared).out), alone);
}

/// Ranks that hold their partitions read each once; the plan names the bytes.
TEST_F(ShardPlan, SaysWhatIsRead) {
  const Planned planned = plan_and_run({"walk", "--length", "9"}, {});
  const std::uint64_t offsets = kRanks * 257u * 8;
  const std::uint64_t read = planned.report["bytes"]["read"].get<std::uint64_t>() - offsets;

  EXPECT_NE(planned.said.find("each keeps its own"), std::string::npos) << planned.said;
  EXPECT_NE(planned.said.find(format_size(read) + " (about)"), std::string::npos)
      << format_size(read) << " in\n"
      << planned.said;
}

/// A graph that is given by its numbers has the plan of a file whose lists are equally long.
TEST_F(ShardPlan, IsKnownOfAGraphByItsNumbers) {
  const std::vector<std::pair<std::string, std::string>> graphs{
      {graph("ring", 12, {"--weights", "uniform", "--reverse"}), "4096:4096"},
      {graph("ring", 13, {"--weights", "uniform", "--undirected"}), "8.192e3:16384:undirected"}};
  const std::vector<Words> jobs{{"pagerank"},
                                {"walk", "--kind", "node2vec"},
                                {"sample", "--kind", "layer", "--layer-size", "5,4"},
                                {"sample", "--kind", "edge", "--count", "9"},
                                {"ppr", "--length", "3"},
                                {"bfs", "--source", "1"},
                                {"sssp", "--source", "1"},
                                {"wcc"},
                                {"kcore"}};
  for (const auto& [file, numbers] : graphs) {
    for (const Words& job : jobs) {
      if (job[0] == "kcore" && numbers.find("undirected") == numbers.npos) continue;  // kcore makes its lists
      const auto plan_of = [&](const std::string& of) {
        Words words{job[0], of};
        words.insert(words.end(), job.begin() + 1, job.end());
        words.insert(words.end(), {"--plan", "--device", "host", "--threads", "1", "--distribution", "shard",
                                   "--host-memory", "250KiB"});
        return sluice(words);
      };
      const Finished expected = plan_of(file), planned = plan_of(numbers);

      EXPECT_NE(expected.out.find("ranks, at least"), std::string::npos) << expected.err;
      EXPECT_EQ(planned.out, expected.out) << job[0];
      EXPECT_EQ(planned.err, expected.err) << job[0];
      EXPECT_EQ(planned.status, expected.status) << job[0];
    }
  }
  const Finished huge = sluice({"walk", "3.5e9:128e9", "--plan", "--device", "host", "--distribution",
                                "shard", "--host-memory", "64GiB", "--device-memory", "64GiB"});
  EXPECT_EQ(huge.status, 0) << huge.err;
  EXPECT_GT(number_after(huge.out, "  that hold all lists"), 8u) << "512 GB of lists in 64 GiB each";
  EXPECT_EQ(sluice({"walk", "1e3:1e4", "--output", at("w.h5")}).status, 2) << "only a plan";
  EXPECT_EQ(sluice({"walk", "5e9:1e10", "--plan"}).status, 2) << "more vertices than ids";
  EXPECT_EQ(sluice({"walk", "10.5:20", "--plan"}).status, 2) << "half a vertex";
}

/// One process plans the number of ranks that a graph needs: it suffices, and one less is refused.
TEST_F(ShardPlan, NamesTheLeastNumberOfRanks) {
  const std::string large = graph("kronecker", 14, {"--undirected"});
  const auto job = [&](Words words, const std::string& memory) {
    words.insert(words.begin() + 1, large);
    words.insert(words.end(), {"--distribution", "shard", "--device", "host", "--threads", "1", "--quiet",
                               "--host-memory", memory});
    return words;
  };
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto report_of = [&](std::uint64_t ranks, const Words& words) {
    const Words all = with(words, {"--force", "--output", at("r.h5"), "--report", at("r.json")});
    ranks == 1 ? run(all) : run_on(static_cast<int>(ranks), all);
    return nlohmann::json::parse(read_file(at("r.json")));
  };
  const Words pagerank{"pagerank", "--max-iterations", "3"}, bfs{"bfs", "--source", "1"},
      walk{"walk", "--length", "9"}, sample{"sample", "--kind", "neighbor", "--fanout", "4,3"};
  std::uint64_t several = 0, shared = 0;
  const std::vector<std::pair<Words, std::string>> jobs{
      {pagerank, "600KiB"}, {pagerank, "700KiB"}, {pagerank, "2MiB"}, {bfs, "700KiB"},
      {bfs, "2MiB"},        {walk, "1500KiB"},    {sample, "500KiB"}, {sample, "1500KiB"}};
  for (const auto& [words, memory] : jobs) {
    SCOPED_TRACE(words[0] + " in " + memory);
    const Words todo = job(words, memory);
    const std::string said = sluice(with(todo, {"--plan"})).out;
    const std::uint64_t least = number_after(said, "ranks, at least");
    report_of(least, todo);
    if (least > 1) {
      ++several;
      const int less = static_cast<int>(least) - 1;
      EXPECT_EQ(sluice_on(less, with(todo, {"--plan"})).status, 4) << said;
    }
    // With that many ranks, all lists are read once.
    if (said.find("that hold all lists          none") != said.npos) continue;
    const std::uint64_t holding = number_after(said, "  that hold all lists");
    EXPECT_GE(holding, least);
    if (holding < 2 || holding > 6) continue;
    ++shared;
    const auto report = report_of(holding, todo);
    EXPECT_LE(report["partition_transfers"], report["partitions"].get<std::uint64_t>() * holding) << said;
    if (words != walk) continue;
    EXPECT_EQ(report["partition_transfers"], report["partitions"]) << said;
    // With one rank less, lists are read again and again, or walks under way do not fit.
    const auto less = sluice_on(static_cast<int>(holding) - 1,
                                with(todo, {"--force", "--output", at("r.h5"), "--report", at("less.json")}));
    if (less.status != 4) {
      const auto again = nlohmann::json::parse(read_file(at("less.json")));
      EXPECT_GT(again["partition_transfers"], again["partitions"]) << said;
    }
  }
  EXPECT_GE(several, 3u);
  EXPECT_GE(shared, 3u);
  EXPECT_NE(sluice(with(job(bfs, "500KiB"), {"--plan"})).out.find("ranks, at least                none"),
            std::string::npos);
}

}  // namespace
}  // namespace sluice::test
