// PageRank on several ranks of a job gives the bytes of one process.
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class PageRankOnRanks : public MpiTest {
 protected:
  /// Compares with one process, for each of these numbers of ranks.
  void compare(const std::string& graph, const std::vector<std::string>& more,
               const std::vector<std::string>& of_ranks = {}, const std::vector<int>& sizes = {2, 3, 4}) {
    std::vector<std::string> arguments{"pagerank", graph, "--quiet", "--force", "--output"};
    const auto words = [&](const std::string& output, const std::vector<std::string>& extra) {
      auto all = arguments;
      all.push_back(at(output));
      all.insert(all.end(), more.begin(), more.end());
      all.insert(all.end(), extra.begin(), extra.end());
      return all;
    };
    run(words("alone.h5", {}));
    for (const int ranks : sizes) {
      run_on(ranks, words("ranks.h5", of_ranks));
      EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5"))) << graph << " on " << ranks;
    }
  }

  static std::vector<double> read_reals(const std::string& file) {
    std::vector<double> ranks(256);
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(id, "rank", H5P_DEFAULT);
    EXPECT_GE(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, ranks.data()), 0);
    H5Dclose(data);
    H5Fclose(id);
    return ranks;
  }

  /// A star whose edges lead to its centre: one rank has all in-edges but one.
  std::string star() {
    std::ofstream edges(at("star.txt"));
    for (int leaf = 1; leaf < 200; ++leaf) edges << leaf << " 0\n";
    edges << "0 7\n";
    edges.close();
    run({"convert", at("star.txt"), at("star.h5"), "--reverse", "--quiet"});
    return at("star.h5");
  }
};

TEST_F(PageRankOnRanks, IsThatOfOneProcess) {
  compare(graph(), {});
  compare(graph(), {"--weighted", "--dangling", "self-loop", "--norm", "l2"}, {"--verify"});
  compare(graph(), {"--precision", "f32", "--norm", "l1", "--tolerance", "1e-5"});
}

TEST_F(PageRankOnRanks, SendsOnlyWhatChangedTowardsTheEnd) {
  compare(graph(), {"--tolerance", "0", "--max-iterations", "300"});
}

TEST_F(PageRankOnRanks, TransposesEachItsPart) {
  compare(graph("rmat", 8, {"--weights", "uniform"}), {"--weighted"});
  compare(graph("rmat", 8, {}), {"--dangling", "self-loop"}, {"--verify"});
}

TEST_F(PageRankOnRanks, ReadsItsPartOfTheFileAlone) {
  compare(graph(), {}, {"--distribution", "shard"});
  compare(graph("rmat", 9, {"--weights", "uniform", "--reverse"}), {"--weighted", "--dangling", "self-loop"},
          {"--distribution", "shard"});
}

TEST_F(PageRankOnRanks, WorksInPartitions) {
  compare(graph(), {}, {"--partitions", "5", "--slots", "2", "--transport", "copied"});
  compare(graph(), {}, {"--partitions", "5", "--transport", "file"});
}

TEST_F(PageRankOnRanks, MayOwnNoVertexOrNoEdge) {
  compare(graph("ring", 1, {}), {});
  const std::string inwards = star();
  compare(inwards, {}, {"--distribution", "shard"});
  compare(inwards, {}, {"--verify"});
}

class RankBatchOnRanks : public PageRankOnRanks {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(at(name)) << text;
    return at(name);
  }

  /// Compares every method's ranks after a batch with those of one process.
  void compare_methods(const std::string& graph, const std::string& weight,
                       const std::vector<std::string>& rules, const std::vector<std::string>& of_ranks) {
    std::vector<std::string> earlier{"pagerank", graph, "--quiet", "--force", "--output", at("old.h5")};
    earlier.insert(earlier.end(), rules.begin(), rules.end());
    run(earlier);
    const std::string insert =
                          file("insert.txt", "1 2" + weight + "\n3 190" + weight + "\n260 4" + weight + "\n"),
                      remove = file("delete.txt", "0 1\n1 0\n99 1\n");
    for (const char* method : {"nd", "dt", "df", "dfp", "dfr"}) {
      SCOPED_TRACE(method);
      std::vector<std::string> batch{"--insert",   insert,       "--delete", remove,
                                     "--previous", at("old.h5"), "--method", method};
      batch.insert(batch.end(), rules.begin(), rules.end());
      compare(graph, batch, of_ranks, {3});
    }
  }
};

TEST_F(RankBatchOnRanks, FollowsAsOneProcess) {
  compare_methods(graph(), " 0.75", {"--weighted"}, {"--verify"});
  compare_methods(graph("rmat", 8, {}), "", {"--dangling", "self-loop"},
                  {"--partitions", "4", "--slots", "2"});
}

TEST_F(RankBatchOnRanks, FollowsAsOneProcessWhereRanksShareTheGraphOut) {
  compare_methods(graph(), " 0.75", {"--weighted"}, {"--distribution", "shard", "--verify"});
  compare_methods(graph("rmat", 9, {"--reverse"}), "", {"--dangling", "self-loop"},
                  {"--distribution", "shard", "--partitions", "4", "--slots", "2"});
}

/// Values that are known at the end are written behind the chunks of all ranks.
TEST_F(RankBatchOnRanks, FillsManyChunksAsOneProcess) {
  const std::string sparse = graph("uniform", 19, {"--edge-factor", "1", "--undirected"}),
                    insert = file("insert.txt", "7 3\n"), old = at("old.h5");
  run({"pagerank", sparse, "--tolerance", "1e-3", "--output", old, "--quiet"});
  compare(sparse, {"--insert", insert, "--previous", old, "--method", "dfp", "--tolerance", "1e-3"}, {},
          {2, 3});
}

TEST_F(RankBatchOnRanks, MayOwnNoVertexOrNoEdge) {
  const std::string inwards = star(), insert = file("insert.txt", "7 3\n"), old = at("old.h5");
  run({"pagerank", inwards, "--output", old, "--quiet"});
  compare(inwards, {"--insert", insert, "--previous", old, "--method", "dfp"}, {}, {2, 4});
}

TEST_F(RankBatchOnRanks, UpdatesTheGraphOnceAndReportsItOnce) {
  const std::string insert = file("insert.txt", "1 2\n3 190\n260 4\n");
  const std::vector<std::string> words{"pagerank", graph("rmat", 8, {}), "--insert", insert, "--force",
                                       "--output"};
  const auto with = [&](const std::string& name) {
    auto all = words;
    all.insert(all.end(),
               {at(name + ".h5"), "--output-graph", at(name + "_graph.h5"), "--report", at(name + ".json")});
    return all;
  };
  run(with("alone"));
  run_on(3, with("ranks"));
  EXPECT_EQ(read_file(at("alone.h5")), read_file(at("ranks.h5")));
  EXPECT_EQ(read_file(at("alone_graph.h5")), read_file(at("ranks_graph.h5")));
  nlohmann::json alone, ranks;
  std::ifstream(at("alone.json")) >> alone;
  std::ifstream(at("ranks.json")) >> ranks;
  for (const char* figure : {"inserted", "present", "deleted", "missing", "new_vertices"})
    EXPECT_EQ(alone[figure], ranks[figure]) << figure;
}

TEST_F(RankBatchOnRanks, ReplaysAsOneProcess) {
  std::ofstream edges(at("temporal.txt"));
  for (int i = 0; i < 900; ++i) edges << i * i % 97 << ' ' << i * 7 % 89 << ' ' << i * 31 % 700 << '\n';
  edges.close();
  const std::vector<std::string> words{"replay",  at("temporal.txt"), "--batch-fraction",
                                       "1e-2",    "--batches",        "4",
                                       "--force", "--quiet",          "--report"};
  const auto with = [&](const std::string& report, std::vector<std::string> more) {
    auto all = words;
    all.push_back(at(report));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  nlohmann::json alone;
  auto one = with("alone.json", {});
  one.insert(one.begin(), paths::kBench);
  EXPECT_EQ(Process(one).wait().status, 0);
  std::ifstream(at("alone.json")) >> alone;
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--partitions", "5", "--slots", "2"},
        std::vector<std::string>{"--distribution", "shard", "--verify"},
        std::vector<std::string>{"--transport", "file", "--partitions", "3", "--slots", "2"}}) {
    SCOPED_TRACE(more[1]);
    EXPECT_EQ(bench_on(3, with("ranks.json", more)).status, 0);
    nlohmann::json ranks;
    std::ifstream(at("ranks.json")) >> ranks;

    EXPECT_EQ(alone["vertices"], ranks["vertices"]);
    ASSERT_EQ(ranks["batches"].size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      for (const auto& [method, run] : alone["batches"][i]["methods"].items()) {
        for (const auto& [figure, value] : run.items()) {
          if (figure == "seconds") continue;
          EXPECT_EQ(value, ranks["batches"][i]["methods"][method][figure]) << method << ' ' << figure;
        }
      }
    }
  }
}

TEST_F(PageRankOnRanks, CannotShardWhatHasNoInEdgesInItsFile) {
  const auto refused =
      sluice_on(2, {"pagerank", graph("rmat", 8, {}), "--distribution", "shard", "--output", at("r.h5")});

  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--reverse"), std::string::npos) << refused.err;
}

TEST_F(PageRankOnRanks, WritesShardsWhereAsked) {
  run({"pagerank", graph(), "--output", at("alone.h5")});
  run_on(3, {"pagerank", graph(), "--output", at("ranks.h5"), "--output-layout", "sharded"});

  EXPECT_EQ(read_reals(at("alone.h5")), read_reals(at("ranks.h5")));
}

TEST_F(PageRankOnRanks, ReportsTheIterationsOnce) {
  run({"pagerank", graph(), "--output", at("alone.h5"), "--report", at("alone.json")});
  run_on(3, {"pagerank", graph(), "--output", at("ranks.h5"), "--report", at("ranks.json")});
  nlohmann::json alone, ranks;
  std::ifstream(at("alone.json")) >> alone;
  std::ifstream(at("ranks.json")) >> ranks;

  for (const char* figure : {"iterations", "residual", "edges", "converged"})
    EXPECT_EQ(alone["solver"][figure], ranks["solver"][figure]) << figure;
}

}  // namespace
}  // namespace sluice::test
