// Suites: their tables, their reports, and their refusals.
#include <fmt/core.h>

#include "bench/bench.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

class Suites : public BenchTest {
 protected:
  /// Small graphs with the names of rows of graph files, a directed graph, and one whose edges have times.
  void graph_files_of(const nlohmann::json& papers) {
    std::filesystem::create_directory(at("graphs"));
    std::vector<std::string> names{"another"};
    for (const auto& paper : papers)
      for (const auto& experiment : paper["experiments"])
        if (experiment["tables"][0] == "MeLoPPR graphs, memory and time")
          for (const auto& [name, published] : experiment["rows"].items()) names.push_back(name);
    EXPECT_GT(names.size(), 2u);
    for (const std::string& name : names)
      std::filesystem::copy_file(graph("kronecker", 6, {"--undirected"}), at("graphs/" + name + ".h5"));
    std::filesystem::copy_file(graph("kronecker", 5, {"--reverse"}), at("graphs/directed.h5"));
    std::string lines;
    for (int i = 0; i < 2000; ++i)
      lines += fmt::format("{} {} {}\n", i * i % 97, i * 31 % 89, i * 7919 % 2000);
    write_file(at("times.txt"), lines);
    run({"convert", at("times.txt"), at("graphs/times.h5"), "--timestamps", "--keep-duplicates", "--reverse",
         "--quiet"});
  }

  const std::string papers_ = std::string(paths::kSource) + "/tests/bench/papers.json";
};

TEST_F(Suites, DiskReadsTheGraphFromItsFile) {
  run_bench({"disk", graph(), "--device", "host", "--threads", "1", "--repetitions", "1", "--report",
             at("bench.json")});

  const auto report = json("bench.json");
  for (const char* figure :
       {"disk, 1 reader [GB/s]", "disk, 2 readers [GB/s]", "disk, 2 readers past the cache [GB/s]",
        "uniform walk, past the cache [GB/s]", "uniform walk, past the cache, of the limit [%]",
        "uniform walk, through the cache, of the limit [%]"}) {
    EXPECT_GT(report.value(figure, 0.0), 0.0) << figure;
  }
  EXPECT_EQ(bench({"disk", "--device", "host"}).status, 2);
}

/// Jobs of the program are compared with the disk alone, with the seconds of their reports.
TEST_F(Suites, FilesStandBesideTheDisk) {
  run_bench({"files", "--device", "host", "--threads", "1", "--scale", "9", "--repetitions", "1", "--scratch",
             at(""), "--report", at("bench.json")});

  const auto report = json("bench.json");
  unsigned jobs = 0;
  for (const auto& [name, value] : report.items()) {
    if (name.find(" [times the disk]") == std::string::npos) continue;
    const std::string job = name.substr(0, name.find(" [times"));
    ++jobs;
    const auto column = [&](const char* key) { return report.at(job + ": " + key).get<double>(); };
    EXPECT_NEAR(value.get<double>() * column("disk s"), column("wall s"), 1e-3 * column("wall s")) << job;
    EXPECT_GT(column("MB written"), 0) << job;
    EXPECT_EQ(column("MB read") > 0, job != "generate") << job;
    for (const char* phase : {"start", "open", "load", "sort", "table", "compute", "transfer", "exchange",
                              "write", "other", "end"})
      EXPECT_LE(column((phase + std::string(" s")).c_str()), column("wall s")) << job << ' ' << phase;
  }
  EXPECT_EQ(jobs, 9u);
  EXPECT_GT(report["start to the first kernel [s]"], 0);
  EXPECT_LE(report["start to the first kernel [s]"], report["start to the first kernel: wall s"]);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"bench.json"}) << "a folder was left behind";
  refuse_bench(2, "no figure",
               {"files", "--device", "host", "--scale", "7", "--scratch", at(""), "--only", "absent"});
}

/// Twenty jobs are compared with every choice that a user could make.
TEST_F(Suites, AutoStandsBesideEveryChoice) {
  run_bench({"auto", "--device", "host", "--threads", "1", "--scale", "9", "--repetitions", "1", "--report",
             at("bench.json")});

  const auto report = json("bench.json");
  unsigned jobs = 0;
  for (const auto& [name, value] : report.items()) {
    if (name.find(" [times the best]") == std::string::npos) continue;
    const std::string job = name.substr(0, name.find(" [times"));
    ++jobs;
    EXPECT_GT(value.get<double>(), 0.0) << job;
    const double best =
        std::min(report.at(job + ": copied ms").get<double>(), report.value(job + ": mapped ms", 1e300));
    EXPECT_GT(best, 0.0) << job;
    if (report.contains(job + ": coded ms")) continue;
    EXPECT_NEAR(value.get<double>(), report.at(job + ": auto ms").get<double>() / best, 0.01) << job;
  }
  EXPECT_EQ(jobs, 20u);
}

TEST_F(Suites, StoppedLeavesNoReport) {
  Process process({paths::kBench, "sampling", "--scale", "12", "--device", "host", "--repetitions", "1000000",
                   "--report", at("bench.json")});
  ASSERT_TRUE(process.reaches([&] { return !folder_.names().empty(); })) << "a report is begun";
  kill(process.id(), SIGTERM);
  const auto finished = process.wait();

  EXPECT_EQ(finished.status, 1) << finished.err;
  EXPECT_NE(finished.err.find("stopped on request"), std::string::npos) << finished.err;
  EXPECT_TRUE(folder_.names().empty()) << "something was left behind";
}

TEST_F(Suites, AblationHasARowForEachTechnique) {
  const auto table = run_bench({"ablation", "--device", "host", "--threads", "1", "--scale", "7",
                                "--repetitions", "1", "--report", at("bench.json")})
                         .out;

  const auto report = json("bench.json");
  for (const char* work :
       {"biased neighbor", "unbiased neighbor", "biased neighbor of 64", "forest fire", "biased walk"}) {
    for (const char* row : {"none", "batching", "+ workload-aware", "+ balancing", "auto"}) {
      const std::string name = std::string(work) + ", 4000: " + row;
      EXPECT_NE(table.find(name), std::string::npos) << table;
      EXPECT_GT(report.value(name + " [ms]", 0.0), 0.0) << name;
      EXPECT_TRUE(report.contains(name + ": deviation %")) << name;
      EXPECT_GT(report.value(name + ": link MiB", 0.0), 0.0) << name;
      if (std::string(row) == "auto") continue;
      EXPECT_GE(report.value(name + ": transfers", 0.0), 4.0) << name;
    }
  }
  for (const char* work : {"unbiased neighbor", "biased neighbor", "chains of neighbors", "forest fire"})
    for (const char* row : {"fifo", "workload-aware"})
      EXPECT_GE(report.value(std::string(work) + ", 8 partitions, 4000: " + row + ": transfers", 0.0), 8.0)
          << work;
}

TEST_F(Suites, MeasuresTheFiguresThatAreAskedForAlone) {
  const auto table = run_bench({"ablation", "--device", "host", "--scale", "7", "--repetitions", "1",
                                "--only", "^forest fire, 2000: (none|auto)$"})
                         .out;

  EXPECT_NE(table.find("forest fire, 2000: none"), std::string::npos) << table;
  EXPECT_NE(table.find("forest fire, 2000: auto"), std::string::npos) << table;
  for (const char* other : {"4000", "neighbor", "batching"})
    EXPECT_EQ(table.find(other), std::string::npos) << table;
  const auto grid =
      run_bench({"acc", "--device", "host", "--scale", "7", "--repetitions", "1", "--only", "grid"}).out;
  EXPECT_NE(grid.find("bfs on a grid"), std::string::npos) << grid;
  EXPECT_EQ(grid.find("stored edges"), std::string::npos) << grid;  // this experiment needs no such graph
  refuse_bench(2, "no figure", {"ablation", "--device", "host", "--scale", "7", "--only", "absent"});
  refuse_bench(2, "regular", {"ablation", "--device", "host", "--scale", "7", "--only", "("});
  refuse_bench(2, "--only", {"limits", "--device", "host", "--only", "copy"});
  refuse_bench(2, "--graph", {"limits", "--device", "host", "--graph", graph()});
  refuse_bench(2, "--scale", {"limits", "--device", "host", "--scale", "7"});
  refuse_bench(2, "--edge-factor",
               {"ablation", "--device", "host", "--graph", graph(), "--edge-factor", "4"});
}

TEST_F(Suites, PprSaysRatesTimesAndPrecision) {
  run_bench({"ppr", "--device", "host", "--graph",
             graph("kronecker", unless_sanitized(7, 6), {"--undirected"}), "--repetitions", "1", "--report",
             at("bench.json")});

  const auto said = json("bench.json");
  for (const std::string method :
       {"push, threshold 8e-06", "meloppr, 3,3 at 10%", "meloppr, threshold 3e-4 at every step",
        "exact, 6 steps", "exact, 14 steps"}) {
    EXPECT_GT(said[method + ", in bulk [queries/s]"], 0) << method;
    EXPECT_LE(said[method + ", alone, p50 [ms]"], said[method + ", alone, p99 [ms]"]) << method;
    EXPECT_GT(said[method + ", precision at 200 []"], 0.3) << method;
    EXPECT_LE(said[method + ", precision at 200 []"], 1) << method;
  }
}

TEST_F(Suites, PapersHasEveryTableAndRowThatThePageShows) {
  const nlohmann::json papers = nlohmann::json::parse(read_file(papers_))["papers"];
  graph_files_of(papers);
  run_bench({"papers", "--device", "host", "--threads", "1", "--scale", "8", "--repetitions", "1", "--graphs",
             at("graphs"), "--report", at("papers.json")});

  run_bench({"scaling", "--device", "host", "--scale", "7", "--repetitions", "1", "--only", "walks",
             "--report", at("scaling.json")});

  const auto report = json("papers.json"), scaling = json("scaling.json");
  const auto has = [&](const std::string& begin) {
    for (const auto& from : {report, scaling})
      for (const auto& [key, value] : from.items())
        if (key.starts_with(begin)) return true;
    return false;
  };
  for (const auto& paper : papers) {
    for (const auto& experiment : paper["experiments"]) {
      for (const std::string table : experiment["tables"]) {
        EXPECT_TRUE(has(table + ": ")) << table;
        const auto rows = experiment.value("rows", nlohmann::json::object());
        for (const auto& [row, published] : rows.items())
          EXPECT_TRUE(has(table + ": " + row + " [")) << table << ": " << row;
      }
    }
  }
  EXPECT_EQ(report["SIMD-X filters, grid: kcore, jit []"], "needs a GPU");
  for (const std::string program : {"bfs", "sssp", "kcore --k 16"})
    for (const std::string graph : {"Kronecker", "grid"})
      EXPECT_GT(report["SIMD-X combine, " + graph + ": " + program + ", no atomics, sorted values: rounds"],
                0);
  EXPECT_EQ(report["DF-P batches, grid: batch 1e-07 []"], "less than an edge of this graph");
  EXPECT_GT(report["DF-P batches, grid: batch 1e-02: dfp as published, times static"], 0);
  EXPECT_LT(report["DF-P batches, grid, errors: batch 1e-01: dfp, of the worst vertex"], 1e-6);
  EXPECT_LT(report["DF-P batches, grid, errors: batch 1e-01: nd"], 1e-4);
  EXPECT_EQ(report["DF-P graphs: times, batch 1e-03: batches"], 99) << "of two edges each";
  EXPECT_GT(report["DF-P graphs: times, batch 1e-03: dfp, times static"], 0);
  EXPECT_EQ(report["DF-P tolerances, grid: batch 1e-04 []"], "less than an edge of this graph");
  EXPECT_TRUE(report.contains("SIMD-X graphs: cora: bp, ms"));
  EXPECT_TRUE(report.contains("SIMD-X graphs: cora: kcore --k 32, ms"));
  for (const char* row : {"alpha 0.85, k 200, lenient", "alpha 0.95, k 100, strict"})
    EXPECT_GT(report[fmt::format("MeLoPPR graphs, precision: cora, {} [% at 1%]", row)], 0) << row;
  EXPECT_FALSE(report.contains("SIMD-X graphs: directed: bp, ms")) << "its messages go both ways";
  EXPECT_FALSE(has("MeLoPPR graphs, precision: directed")) << "the paper's graphs are undirected";
  EXPECT_EQ(report["MeLoPPR Kronecker, precision: alpha 0.85, k 200, one stage [%]"], 100);
  for (const std::string bitmap : {"bitmap", "bitmap of bytes"})
    for (const std::string kind : {"biased neighbor", "forest fire", "layer", "unbiased neighbor"})
      EXPECT_GT(report["C-SAW selection: " + kind + ", bipartite, " + bitmap + ": % searches saved"], 0);
}

TEST_F(Suites, PapersMeasuresTheTablesThatAreAskedFor) {
  run_bench({"papers", "--device", "host", "--graph", graph("kronecker", 7, {"--undirected"}),
             "--repetitions", "1", "--only", "^SIMD-X directions", "--report", at("papers.json")});

  const auto report = json("papers.json");
  for (const std::string program : {"bfs", "sssp", "kcore"})
    for (const std::string direction : {"push", "pull", "auto"})
      EXPECT_GT(report["SIMD-X directions, Kronecker: " + program + ", " + direction + " [ms]"], 0);
  EXPECT_NE(report["SIMD-X directions, Kronecker: graph []"].get<std::string>().find("128 vertices"),
            std::string::npos);
  for (const auto& [key, value] : report.items()) EXPECT_EQ(key.find("C-SAW"), std::string::npos) << key;
}

TEST_F(Suites, PapersSweepsTolerancesOverBatchesOfAnEdgeOrMore) {
  run_bench({"papers", "--device", "host", "--scale", "13", "--repetitions", "1", "--only",
             "^DF-P tolerances, grid", "--report", at("papers.json")});

  const auto report = json("papers.json");
  const std::string table = "DF-P tolerances, grid: ";
  EXPECT_EQ(report[table + "batch 1e-05 []"], "less than an edge of this graph");
  for (const std::string row : {"static", "frontier 1e-08", "prune 1e-03"}) {
    EXPECT_GT(report[table + row + " [ms, batch 1e-04]"], 0) << row;
    EXPECT_LT(report[table + row + ": batch 1e-04, L1 error"], 1e-4) << row;
  }
}

TEST_F(Suites, RefusesAFolderWithoutGraphFiles) {
  refuse_bench(2, "--graphs: no graph file (*.h5)", {"papers", "--device", "host", "--graphs", at("absent")});
}

TEST_F(Suites, ReportsNameTheRun) {
  run_bench({"limits", "--device", "host", "--repetitions", "1", "--commit", "abc1234", "--report",
             at("limits.json")});

  const auto report = json("limits.json");
  EXPECT_EQ(report["command"], "limits");
  EXPECT_EQ(report["commit"], "abc1234");
  EXPECT_EQ(report["date"].get<std::string>().size(), 10u);
  EXPECT_GE(report["load"], 0);
  EXPECT_GT(report["copy, read + write [GB/s]"], 0);
}

TEST_F(Suites, FiguresSayTheirPartOfALimit) {
  run_bench({"sampling", "--device", "host", "--scale", "7", "--repetitions", "1", "--report",
             at("sampling.json")});

  const auto report = json("sampling.json");
  const double part = report["uniform walk, csr [G steps/s]"].get<double>() /
                      report["limit: random 4-byte reads [G reads/s]"].get<double>();
  EXPECT_NEAR(report["uniform walk, csr: % of random 4-byte reads"], 100 * part, 1e-6);
}

}  // namespace
}  // namespace sluice::test
