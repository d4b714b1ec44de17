// A user's whole path: generate or convert, info, check, walk, sample.
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

class WholePath : public CliTest {};

TEST_F(WholePath, HelpIsForEveryCommand) {
  for (const char* command : {"generate", "convert", "info", "check", "walk", "sample"}) {
    const auto help = run({command, "--help"});

    EXPECT_NE(help.out.find("Usage: sluice " + std::string(command)), std::string::npos);
    EXPECT_NE(help.out.find("Example:"), std::string::npos);
    EXPECT_NE(run({"--help"}).out.find(command), std::string::npos);
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(WholePath, HelpListsNoOptionThatTheCommandRefuses) {
  const std::vector<std::pair<std::string, std::string>> options{
      {"--layout", "csr"}, {"--instance-range", "0:1"},     {"--partitions", "2"},  {"--seed", "2"},
      {"--slots", "2"},    {"--distribution", "replicate"}, {"--transport", "auto"}};
  const std::vector<std::pair<std::string, int>> refuses{{"walk", 0},     {"sample", 0}, {"ppr", 1},
                                                         {"pagerank", 2}, {"bfs", 2},    {"sssp", 2},
                                                         {"kcore", 2},    {"wcc", 2},    {"bp", 2}};
  for (const auto& [command, count] : refuses) {
    const auto help = run({command, "--help"}).out;
    int refused = 0;
    for (const auto& [option, value] : options) {
      const auto said = sluice({command, at("nothing.h5"), option, value}).err;
      const bool idle = said.find(option + " does not apply to " + command) != said.npos;
      const bool unknown = said.find("(see sluice " + command + " --help)") != said.npos;
      EXPECT_EQ(help.find("  " + option + " ") != help.npos, !idle && !unknown) << command << ": " << said;
      refused += idle;
    }
    EXPECT_EQ(refused, count) << command;
  }
}

TEST_F(WholePath, HelpKeepsTechniquesForThoseWhoCompareThem) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> techniques{
      {"bfs", {"--filter", "--fusion"}},
      {"bp", {"--fusion"}},
      {"sample", {"--collision"}},
      {"pagerank", {"--rows", "--split", "--affect-all"}},
      {"ppr", {"--unexpanded", "--table-limit", "--balls", "--score-units", "--state"}},
      {"walk", {}}};
  for (const auto& [command, options] : techniques) {
    const auto help = run({command, "--help"}).out, all = run({command, "--help-all"}).out;
    for (const auto& option : options) {
      EXPECT_EQ(help.find("  " + option + " "), help.npos) << command;
      EXPECT_NE(all.find("  " + option + " "), all.npos) << command;
    }
    EXPECT_EQ(help.find("  --help-all ") != help.npos, !options.empty()) << command;
    EXPECT_EQ(all.find("  --help-all "), all.npos) << command;
  }
}

TEST_F(WholePath, NamesTheProgramThatMeasures) {
  refuse(2, "bench is part of another program (see sluice-bench --help)", {"bench", "acc"});
  refuse(2, "--replay is part of another program", {"pagerank", "--replay", at("edges.txt")});
  for (const char* option : {"--batching=off", "--balance", "--schedule"})
    refuse(2, "sluice-bench", {"walk", at("graph.h5"), option, "off", "--output", at("w.h5")});
}

TEST_F(WholePath, HelpShowsDefaults) {
  const auto help = run({"walk", "--help"}).out;

  EXPECT_NE(help.find("(default: 80)"), std::string::npos);
  EXPECT_NE(help.find("(default: 0.15)"), std::string::npos);
}

TEST_F(WholePath, VersionNamesTheLibraries) {
  const auto version = run({"--version"}).out;

  for (const char* name : {"sluice ", "CUDA ", "NCCL ", "MPI ", "HDF5 1."}) {
    EXPECT_NE(version.find(name), std::string::npos) << version;
  }
}

TEST_F(WholePath, KarateFromTextToSamples) {
  if (!std::filesystem::exists(shared("karate.csv"))) GTEST_SKIP() << "no shared data";
  const auto path = at("karate.h5");

  run({"convert", shared("karate.csv"), path, "--weights", "column"});
  const auto info = Json::parse(run({"info", path, "--json", "--edges"}).out);
  run({"check", path});
  run({"walk", path, "--kind", "biased", "--length", "10", "--verify", "--output", at("walks.h5")});
  run({"sample", path, "--kind", "neighbor", "--fanout", "3,2", "--verify", "--output", at("samples.h5")});

  EXPECT_EQ(info["vertices"], 34);
  EXPECT_EQ(info["edges"], 156);
  EXPECT_EQ(info["out_degree"]["max"], 17);
  EXPECT_EQ(info["self_loops"], 0);
  EXPECT_EQ(info["isolated"], 0);
  EXPECT_EQ(read_numbers(at("walks.h5"), "walks").size(), 34u * 11);
  EXPECT_EQ(read_numbers(at("samples.h5"), "instance_offsets").size(), 35u);
}

TEST_F(WholePath, KarateFromMetisIsTheSameGraph) {
  if (!std::filesystem::exists(shared("karate.graph"))) GTEST_SKIP() << "no shared data";

  run({"convert", shared("karate.graph"), at("metis.h5")});
  run({"convert", shared("karate.csv"), at("text.h5"), "--undirected"});

  EXPECT_EQ(read_numbers(at("metis.h5"), "out/indices"), read_numbers(at("text.h5"), "out/indices"));
  EXPECT_EQ(read_numbers(at("metis.h5"), "out/indptr"), read_numbers(at("text.h5"), "out/indptr"));
}

TEST_F(WholePath, EveryGeneratedKindIsSound) {
  for (const char* kind : {"rmat", "kronecker", "uniform", "grid", "ring"}) {
    const auto path = graph(kind, 6, {});

    EXPECT_NE(run({"check", path}).out.find("sound"), std::string::npos);
    const auto info = Json::parse(run({"info", path, "--json"}).out);
    EXPECT_EQ(info["vertices"], 64) << kind;
  }
}

TEST_F(WholePath, InfoReadsTheEdgesOnlyWhenAsked) {
  const auto path = at("edges.h5");
  write_file(at("edges.txt"), "0 1\n1 1\n5 1\n");
  run({"convert", at("edges.txt"), path, "--keep-self-loops", "--quiet"});
  const auto info = Json::parse(run({"info", path, "--json", "--edges"}).out);
  poke(path, dataset_offset(path, "/out/indices"), std::int32_t{6});

  EXPECT_EQ(info["isolated"], 3);
  EXPECT_EQ(info["self_loops"], 1);
  EXPECT_EQ(info["dead_ends"], 3);
  EXPECT_FALSE(Json::parse(run({"info", path, "--json"}).out).contains("self_loops"));
  refuse(3, "dataset /out/indices: position 0", {"info", path, "--edges"});
}

TEST_F(WholePath, InfoPlansThePartitionsOfARun) {
  const auto path = graph("kronecker", 10, {"--undirected", "--weights", "uniform"});
  for (const char* budget : {"70KiB", "80KiB"}) {
    const auto info = Json::parse(run({"info", path, "--json", "--device-memory", budget}).out);
    run({"walk", path, "--device-memory", budget, "--output", at("walks.h5"), "--force", "--report",
         at("walks.json"), "--quiet"});

    ASSERT_GT(info["partitions"].size(), 1u);
    EXPECT_EQ(info["partitions"].size(), Json::parse(read_file(at("walks.json")))["partitions"]);
    EXPECT_GE(info["slots"], 2);
    std::uint64_t next = 0;
    for (const auto& partition : info["partitions"]) {
      EXPECT_EQ(partition["begin"], next);
      next = partition["end"];
    }
    EXPECT_EQ(next, info["vertices"]);
    EXPECT_NE(run({"info", path, "--device-memory", budget}).out.find("partitions"), std::string::npos);
  }
  EXPECT_NE(run({"info", path, "--device-memory", "1GiB"}).out.find("none"), std::string::npos);
}

TEST_F(WholePath, EveryWalkKindPassesItsVerification) {
  const auto path = graph();
  for (const char* kind : {"uniform", "biased", "metropolis-hastings", "jump", "restart", "node2vec"}) {
    const auto output = at(std::string(kind) + ".h5");

    run({"walk", path, "--kind", kind, "--length", "12", "--verify", "--output", output});

    EXPECT_EQ(read_numbers(output, "walks").size(), 256u * 13) << kind;
    run({"walk", path, "--kind", kind, "--length", "12", "--verify", "--transport", "file", "--output",
         at("from_file.h5"), "--force"});
    EXPECT_EQ(read_file(at("from_file.h5")), read_file(output)) << kind;
  }
}

TEST_F(WholePath, MultidimensionalWritesEdgesAndPool) {
  run({"walk", graph(), "--kind", "multidimensional", "--frontier-size", "5", "--instances", "7", "--length",
       "9", "--verify", "--output", at("pools.h5")});

  EXPECT_EQ(read_numbers(at("pools.h5"), "edges").size(), 7u * 9 * 2);
  EXPECT_EQ(read_numbers(at("pools.h5"), "pool").size(), 7u * 5);
}

TEST_F(WholePath, EverySampleKindPassesItsVerification) {
  const auto path = graph();
  const std::vector<std::vector<std::string>> kinds{
      {"neighbor", "--fanout", "4,3"},
      {"neighbor", "--fanout", "-1,2", "--bias", "degree"},
      {"neighbor", "--fanout", "4,3", "--replace", "--bias", "weight"},
      {"neighbor", "--fanout", "3,3", "--revisit"},
      {"forest-fire", "--depth", "3"},
      {"snowball", "--depth", "2"},
      {"layer", "--layer-size", "8,16", "--bias", "weight"},
      {"layer", "--layer-size", "8,16", "--revisit"},
      {"node", "--count", "50", "--instances", "3"},
      {"edge", "--count", "60", "--instances", "3"},
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::vector<std::string> arguments{"sample", path, "--verify", "--output", at(std::to_string(i) + ".h5"),
                                       "--kind"};
    arguments.insert(arguments.end(), kinds[i].begin(), kinds[i].end());

    run(arguments);

    const auto offsets = read_numbers(arguments[4], "instance_offsets");
    EXPECT_EQ(offsets.back(), static_cast<std::int64_t>(read_numbers(arguments[4], "edge").size()));
    EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
    arguments[4] = at("from_file.h5");
    arguments.insert(arguments.end(), {"--transport", "file", "--force"});
    run(arguments);
    EXPECT_EQ(read_file(at("from_file.h5")), read_file(at(std::to_string(i) + ".h5")));
  }
}

TEST_F(WholePath, ReportHoldsWhatTheContractNames) {
  run({"walk", graph(), "--length", "5", "--output", at("walks.h5"), "--report", at("report.json"),
       "--quiet"});
  const auto report = Json::parse(read_file(at("report.json")));

  EXPECT_EQ(report["command"], "walk");
  EXPECT_EQ(report["options"]["length"], 5);
  EXPECT_EQ(report["graph"]["vertices"], 256);
  EXPECT_EQ(report["ranks"], 1);
  EXPECT_EQ(report["instances"], 256);
  const auto& seconds = report["seconds"];
  double parts = 0;
  for (const char* key :
       {"open", "load", "sort", "table", "compute", "transfer", "exchange", "write", "other"}) {
    ASSERT_TRUE(seconds[key].is_number()) << key;
    EXPECT_LE(seconds[key], seconds["total"]) << key;
    parts += seconds[key].get<double>();
  }
  EXPECT_GE(parts, 0.999 * seconds["total"].get<double>());
  for (const char* key : {"start", "open", "load", "compute", "write"}) EXPECT_GT(seconds[key], 0) << key;
  for (const char* key : {"host_to_device", "mapped", "exchanged", "read", "written"}) {
    EXPECT_TRUE(report["bytes"][key].is_number()) << key;
  }
  for (const char* key : {"sampled_edges", "steps", "sampled_edges_per_second", "partitions",
                          "partition_transfers", "peak_device_bytes", "peak_host_bytes"}) {
    EXPECT_TRUE(report[key].is_number()) << key;
  }
  EXPECT_GT(report["peak_host_bytes"], 0);
}

TEST_F(WholePath, JobsReadWeightsThatTheyUse) {
  const auto path = graph("kronecker", 8, {"--undirected", "--weights", "uniform"});
  const std::uint64_t offsets = read_numbers(path, "out/indptr").size() * 8,
                      targets = read_numbers(path, "out/indices").size() * 4;
  const auto bytes_read = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, path);
    words.insert(words.end(),
                 {"--output", at("out.h5"), "--force", "--quiet", "--report", at("report.json")});
    run(words);
    const auto report = Json::parse(read_file(at("report.json")));
    EXPECT_EQ(report["graph"]["weighted"], true);
    return report["bytes"]["read"].get<std::uint64_t>();
  };
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"bfs", "--source", "0"},
        {"wcc"},
        {"kcore"},
        {"pagerank"},
        {"ppr", "--instances", "2"},
        {"walk"},
        {"walk", "--kind", "biased", "--bias", "degree"},
        {"walk", "--kind", "multidimensional", "--frontier-size", "4"},
        {"sample", "--fanout", "2"},
        {"sample", "--kind", "layer", "--layer-size", "2", "--bias", "degree"}}) {
    EXPECT_EQ(bytes_read(words), offsets + targets) << words[0] << ' ' << words.back();
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"sssp", "--source", "0"},
                                                {"pagerank", "--weighted"},
                                                {"ppr", "--instances", "2", "--weighted"},
                                                {"walk", "--kind", "biased"},
                                                {"walk", "--kind", "node2vec"},
                                                {"sample", "--fanout", "2", "--bias", "weight"}}) {
    EXPECT_EQ(bytes_read(words), offsets + 2 * targets) << words[0] << ' ' << words.back();
  }
}

TEST_F(WholePath, VerboseSaysTheConfigurationAndQuietNothing) {
  const auto path = graph();

  const auto verbose = run({"walk", path, "--verbose", "--output", at("a.h5")});
  const auto quiet = run({"walk", path, "--quiet", "--output", at("b.h5")});

  EXPECT_NE(verbose.err.find("seed"), std::string::npos);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, "");
}

TEST_F(WholePath, ProgressIsOnStandardErrorOnly) {
  const auto shown = run({"walk", graph(), "--progress", "always", "--output", at("a.h5")});

  EXPECT_NE(shown.err.find('%'), std::string::npos);
  EXPECT_EQ(shown.out, "");
}

TEST_F(WholePath, PlanRunsNothing) {
  const auto before = graph();

  const auto walks = run({"walk", before, "--plan"});
  const auto samples = run({"sample", before, "--kind", "neighbor", "--fanout", "3", "--plan"});

  EXPECT_NE(walks.out.find("device memory"), std::string::npos);
  EXPECT_NE(walks.out.find("technique                  an index\n"), std::string::npos) << walks.out;
  EXPECT_NE(samples.out.find("technique                 bipartite\n"), std::string::npos) << samples.out;
  EXPECT_EQ(folder_.names().size(), 1u);
}

}  // namespace
}  // namespace sluice::test
