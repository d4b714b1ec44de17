// Outputs, messages and refusals of sluice ppr.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

/// There is a query for each vertex, and an exact one may reach every vertex, so scales are small.
constexpr unsigned kScale = unless_sanitized(8, 6), kHardScale = unless_sanitized(7, 5);
constexpr std::uint64_t kQueries = 1u << kScale;

class PprCli : public CliTest {
 protected:
  std::string small() { return graph("kronecker", kScale); }
  std::string hard() { return graph("rmat", kHardScale, {"--weights", "uniform"}); }

  nlohmann::json report() {
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  void starts(const std::string& text) { std::ofstream(at("starts.txt")) << text; }
};

TEST_F(PprCli, WritesSeedsVerticesAndScores) {
  run({"ppr", small(), "--top", "10", "--output", at("p.h5"), "--report", at("report.json"), "--verify"});

  EXPECT_EQ(read_numbers(at("p.h5"), "seeds").size(), kQueries);
  EXPECT_EQ(read_numbers(at("p.h5"), "vertices").size(), 10 * kQueries);
  const auto said = report();
  EXPECT_EQ(said["queries"], kQueries);
  EXPECT_TRUE(said["converged"]);
  EXPECT_LE(said["largest_error"], 1e-10);
  EXPECT_GT(said["peak_query_bytes"], 0);
  EXPECT_GT(said["queries_per_second"], 0);
  EXPECT_EQ(said["list_rounds"], 0);
  EXPECT_EQ(said["list_restarts"], 0);
}

TEST_F(PprCli, SaysThatTheToleranceWasMissed) {
  const std::vector<std::string> words{"ppr",     graph(),    "--instances",   "4",          "--quiet",
                                       "--force", "--output", at("scores.h5"), "--tolerance"};
  for (const auto& [tolerance, said] : {std::pair{"1e-8", false}, std::pair{"1e-300", true}}) {
    auto all = words;
    all.emplace_back(tolerance);
    const auto finished = run(all);
    EXPECT_EQ(finished.err.find("NOT converged") != std::string::npos, said) << finished.err;
  }
}

TEST_F(PprCli, VerifiesEveryMethodAndRule) {
  for (const std::string method : {"exact", "meloppr", "push", "montecarlo"}) {
    for (const std::string dangling : {"seed", "uniform"}) {
      run({"ppr", hard(), "--method", method, "--dangling", dangling, "--weighted", "--verify", "--force",
           "--output", at("p.h5")});
    }
  }
  const std::string file = hard();
  for (const std::string method : {"exact", "meloppr", "push", "montecarlo"}) {
    run({"ppr", file, "--method", method, "--weighted", "--force", "--output", at("p.h5")});
    run({"ppr", file, "--method", method, "--weighted", "--verify", "--transport", "file", "--force",
         "--output", at("file.h5")});
    EXPECT_EQ(read_file(at("p.h5")), read_file(at("file.h5"))) << method;
  }
  run({"ppr", small(), "--method", "meloppr", "--one-by-one", "--table", "2", "--top", "10", "--unexpanded",
       "share", "--verify", "--output", at("one.h5")});
}

TEST_F(PprCli, TakesWeightedSeeds) {
  const std::string file = graph("ring", 4, {});
  starts("3:1 7:3 # two seeds\n\n5\n");

  const auto text = run({"ppr", file, "--starts", at("starts.txt"), "--alpha", "0", "--top", "3", "--format",
                         "text", "--output", "-"});
  run({"ppr", file, "--starts", at("starts.txt"), "--output", at("p.h5")});

  EXPECT_EQ(text.out, "# seeds vertices scores\n3 7 3 -1 0.75 0.25 0\n5 5 -1 -1 1 0 0\n");
  EXPECT_EQ(read_numbers(at("p.h5"), "seeds"), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(read_numbers(at("p.h5"), "query_seeds"), (std::vector<std::int64_t>{3, 7, 5}));
  EXPECT_EQ(read_numbers(at("p.h5"), "query_weights"), (std::vector<std::int64_t>{1, 3, 1}));
  EXPECT_EQ(read_numbers(at("p.h5"), "query_offsets"), (std::vector<std::int64_t>{0, 2, 3}));
}

TEST_F(PprCli, SpeaksOriginalIds) {
  std::ofstream(at("edges.txt")) << "70 1000\n1000 70\n1000 500000\n";
  run({"convert", at("edges.txt"), at("edges.h5"), "--quiet"});
  starts("500000\n");

  const auto text = run({"ppr", at("edges.h5"), "--original-ids", "--starts", at("starts.txt"), "--top", "2",
                         "--format", "text", "--output", "-", "--length", "1"});

  EXPECT_EQ(text.out, "# seeds vertices scores\n500000 500000 -1 1 0\n");
}

TEST_F(PprCli, PutsPartsTogether) {
  run({"ppr", graph(), "--format", "npy", "--instances", "40", "--length", "4", "--output", at("whole")});
  run({"ppr", graph(), "--instances", "40", "--length", "4", "--instance-range", "30:35", "--output",
       at("part.h5")});
  run({"ppr", graph(), "--instances", "40", "--length", "4", "--output", at("whole.h5")});

  const auto whole = read_numbers(at("whole.h5"), "vertices"), part = read_numbers(at("part.h5"), "vertices");
  ASSERT_EQ(part.size(), 1000u);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 6000));
}

TEST_F(PprCli, GivesTheSameFileForAnyThreads) {
  for (const std::string method : {"exact", "meloppr", "push", "montecarlo"}) {
    run({"ppr", small(), "--method", method, "--threads", "1", "--force", "--output", at("one.h5")});
    run({"ppr", small(), "--method", method, "--threads", "4", "--force", "--output", at("four.h5")});

    EXPECT_EQ(read_file(at("one.h5")), read_file(at("four.h5"))) << method;
  }
}

TEST_F(PprCli, MeasuresWhereAsked) {
  const auto finished = run({"ppr", graph(), "--method", "meloppr", "--top", "50", "--evaluate", "--latency",
                             "--output", at("p.h5"), "--report", at("report.json")});

  const auto said = report();
  for (const char* figure : {"precision_truncated", "precision_limit", "precision_truncated_of_scored"}) {
    EXPECT_GT(said[figure], 0.3) << figure;
    EXPECT_LE(said[figure], 1) << figure;
  }
  EXPECT_GT(said["latency_p50_seconds"], 0);
  EXPECT_LE(said["latency_p50_seconds"], said["latency_p99_seconds"]);
  EXPECT_NE(finished.err.find("precision_truncated"), std::string::npos);
}

TEST_F(PprCli, PlansWithoutRunning) {
  EXPECT_NE(run({"ppr", graph(), "--plan"}).out.find("queries at once"), std::string::npos);
  EXPECT_NE(
      run({"ppr", graph(), "--plan", "--partitions", "9"}).out.find("partitions                        9"),
      std::string::npos);
  // A plan divides lists as the run does.
  const auto planned = run({"ppr", graph(), "--plan", "--transport", "file"}).out;
  run({"ppr", graph(), "--transport", "file", "--output", at("file.h5"), "--report", at("report.json")});
  const std::string cut = report()["partitions"].dump();
  EXPECT_NE(planned.find(fmt::format("partitions{:>25}", cut)), std::string::npos) << cut << '\n' << planned;
  refuse(4, "device memory", {"ppr", graph(), "--device-memory", "2KiB", "--output", at("p.h5")});
}

TEST_F(PprCli, GivesTheSameFileOutOfCore) {
  const std::vector<std::vector<std::string>> places{
      {"--partitions", "7", "--slots", "2"},
      {"--partitions", "7", "--transport", "mapped"},
      {"--transport", "file"},
      {"--device-memory", "500KiB", "--transport", "copied"},
      {"--host-memory", "2MiB", "--partitions", "20", "--verify"}};
  const std::string file = graph("kronecker", 12, {"--undirected", "--weights", "uniform"});
  const std::string few = std::to_string(unless_sanitized(5, 2));
  for (const std::string method : {"exact", "meloppr", "push", "montecarlo"}) {
    std::vector<std::string> words{"ppr",         file,       "--method",        method,    "--weighted",
                                   "--instances", few,        "--force",         "--top",   "50",
                                   "--quiet",     "--report", at("report.json"), "--output"};
    if (method == "exact" || method == "push") words.insert(words.begin() + 2, {"--tolerance", "1e-3"});
    const auto with = [&](const std::string& output, const std::vector<std::string>& more) {
      auto all = words;
      all.push_back(at(output));
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    run(with("whole.h5", {}));
    for (const auto& place : places) {
      run(with("parts.h5", place));

      EXPECT_EQ(read_file(at("whole.h5")), read_file(at("parts.h5"))) << method << ' ' << place[0];
      const auto said = report();
      EXPECT_GT(said["partitions"], 1) << method << ' ' << place[0];
      EXPECT_GT(said["list_rounds"], 0) << method << ' ' << place[0];
      // Walks read a partition in place if few wait for it and the transport is automatic.
      const bool open = method == "montecarlo" && std::ranges::find(place, "--transport") == place.end();
      if (open) {
        EXPECT_TRUE(said["partition_transfers"] > 0 || said["bytes"]["mapped"] > 0) << place[0];
      } else {
        EXPECT_EQ(said["partition_transfers"] == 0, place.back() == "mapped") << method << ' ' << place[0];
      }
    }
  }
}

TEST_F(PprCli, CountsScoreUnitsByBalls) {
  const auto words = [&](const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> all{"ppr", small(),   "--method", "meloppr",  "--instances",
                                 "20",  "--force", "--quiet",  "--output", at(output)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  run(words("fine.h5", {}));
  for (const std::string degree : {"average", "largest"}) {
    run(words("whole.h5", {"--score-units", degree, "--verify"}));
    run(words("parts.h5", {"--score-units", degree, "--partitions", "7", "--slots", "2"}));
    EXPECT_EQ(read_file(at("whole.h5")), read_file(at("parts.h5"))) << degree;
    EXPECT_NE(read_file(at("whole.h5")), read_file(at("fine.h5"))) << degree;
  }
}

TEST_F(PprCli, DiffusesBallsSideBySideOutOfCore) {
  const auto words = [&](const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> all{"ppr", small(),       "--method", "meloppr", "--one-by-one", "--top",
                                 "20",  "--instances", "20",       "--force", "--output",     at(output)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  run(words("whole.h5", {}));
  for (const std::string balls : {"2", "16"}) {
    run(words("parts.h5", {"--balls", balls, "--partitions", "7", "--slots", "2"}));
    EXPECT_EQ(read_file(at("whole.h5")), read_file(at("parts.h5"))) << balls;
    run(words("file.h5", {"--balls", balls, "--transport", "file", "--verify"}));
    EXPECT_EQ(read_file(at("whole.h5")), read_file(at("file.h5"))) << balls;
  }
}

/// Two queries could evict each other's lists for ever; the job must end nevertheless.
TEST_F(PprCli, EndsWhereTwoQueriesDoNotFitTogether) {
  const std::string big = graph("kronecker", 11, {"--undirected", "--weights", "uniform"});
  run({"ppr", big, "--instances", "20", "--output", at("whole.h5")});

  run({"ppr", big, "--instances", "20", "--device", "host", "--threads", "2", "--device-memory", "125000B",
       "--output", at("tight.h5"), "--report", at("report.json")});

  EXPECT_EQ(read_file(at("tight.h5")), read_file(at("whole.h5")));
  EXPECT_GT(report()["list_restarts"], 0);
}

TEST_F(PprCli, EvaluatesOutOfCore) {
  const auto measured = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"ppr",      small(),      "--method",       "meloppr", "--top",
                                   "20",       "--evaluate", "--verify",       "--force", "--output",
                                   at("p.h5"), "--report",   at("report.json")};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return report()["precision_limit"].get<double>();
  };
  EXPECT_EQ(measured({"--partitions", "5"}), measured({}));
}

TEST_F(PprCli, RefusesWhatHasNoMeaning) {
  const std::string file = graph("ring", 4, {});
  const auto refused = [&](const std::string& words, std::vector<std::string> more) {
    std::vector<std::string> arguments{"ppr", file, "--output", at("p.h5")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuse(2, words, arguments);
  };
  refused("--alpha", {"--alpha", "1"});
  refused("--tolerance", {"--tolerance", "-1"});
  refused("--tolerance", {"--length", "3", "--tolerance", "1e-3"});
  refused("--top", {"--top", "0"});
  refused("--method", {"--method", "guess"});
  refused("--dangling", {"--dangling", "self-loop"});
  refused("--weighted", {"--weighted"});
  refused("--stages", {"--stages", "3,3"});
  refused("--stages", {"--method", "meloppr", "--stages", "3,0"});
  refused("--stages", {"--method", "meloppr", "--stages", "3,3", "--length", "5"});
  refused("--expand", {"--method", "meloppr", "--expand", "1.5"});
  refused("--expand", {"--method", "meloppr", "--expand", "0.5", "--residual-threshold", "0.1"});
  refused("--residual-threshold", {"--method", "meloppr", "--residual-threshold", "2"});
  refused("--residual-threshold", {"--method", "push", "--residual-threshold", "0"});
  refused("--residual-threshold", {"--residual-threshold", "0.1"});
  refused("--tolerance", {"--method", "push", "--residual-threshold", "0.1", "--tolerance", "0.1"});
  refused("--length", {"--method", "push", "--length", "3"});
  refused("--walks", {"--walks", "3"});
  refused("--walks", {"--method", "montecarlo", "--walks", "16777217"});
  refused("--confidence", {"--method", "montecarlo", "--confidence", "1"});
  refused("--tolerance", {"--method", "montecarlo", "--tolerance", "0.1"});
  refused("--one-by-one", {"--one-by-one"});
  refused("--table", {"--method", "meloppr", "--table", "10"});
  refused("--table", {"--method", "meloppr", "--one-by-one", "--table", "1"});
  refused("--table-limit", {"--method", "meloppr", "--table-limit", "hard"});
  refused("--table-limit hard", {"--method", "meloppr", "--one-by-one", "--table-limit", "hard"});
  refused("--balls", {"--method", "meloppr", "--balls", "2"});
  refused("--balls", {"--method", "meloppr", "--one-by-one", "--balls", "0"});
  refused("--score-units", {"--method", "push", "--score-units", "1000"});
  refused("--score-units", {"--state", "dense", "--score-units", "1000"});
  refused("--score-units", {"--score-units", "2147483648"});
  refused("--score-units", {"--length", "3", "--score-units", "median"});
  refused("--score-units", {"--score-units", "average"});
  refused("--score-units", {"--method", "push", "--score-units", "largest"});
  refused("--unexpanded", {"--unexpanded", "share"});
  refused("--state", {"--method", "push", "--state", "dense"});
  refused("--state", {"--device", "host", "--partitions", "3", "--state", "dense"});
  refused("--layout", {"--layout", "wide"});
  refused("exclude each other", {"--starts", "s.txt", "--instances", "3"});
}

TEST_F(PprCli, NamesTheLineOfABadSeed) {
  const std::string file = graph("ring", 4, {});
  const auto refused = [&](const std::string& words, const std::string& text) {
    starts(text);
    refuse(3, words, {"ppr", file, "--starts", at("starts.txt"), "--output", at("p.h5")});
  };
  refused("starts.txt:2: the graph has no vertex 16", "1\n16\n");
  refused("starts.txt:1: 'x' is not a vertex id", "x:1\n");
  for (const std::string weight : {"", "0", "-1", "nan", "inf", "1:2", "x"})
    refused("starts.txt:1: '" + weight + "' is not a weight", "1:" + weight + "\n");
  refused("starts.txt:1: the weights' sum is too large", "1:1e308 2:1e308\n");
  refused("holds no vertex", "# nothing\n");
}

}  // namespace
}  // namespace sluice::test
