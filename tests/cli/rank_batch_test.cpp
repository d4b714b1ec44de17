// sluice pagerank with batches: the graph changes, and ranks are updated.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

class RankBatchCli : public CliTest {
 protected:
  nlohmann::json report() {
    nlohmann::json json;
    std::ifstream(at("report.json")) >> json;
    return json;
  }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(at(name)) << text;
    return at(name);
  }

  /// A directed graph without stored in-edges, and its ranks.
  std::string ranked_graph() {
    const std::string path = graph("rmat", 9, {});
    run({"pagerank", path, "--tolerance", "1e-14", "--output", at("old.h5"), "--quiet", "--device", "host"});
    return path;
  }

  std::vector<double> ranks(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "pagerank");
    arguments.insert(arguments.end(), {"--device", "host", "--format", "text", "--output", "-", "--quiet"});
    std::istringstream stream(run(std::move(arguments)).out);
    return {std::istream_iterator<double>(stream), {}};
  }
};

TEST_F(RankBatchCli, FollowsABatchByEveryMethod) {
  const std::string path = ranked_graph();
  const std::string insert = file("insert.txt", "1 2\n3 500\n600 4\n7 7\n1 2\n");
  const std::string remove = file("delete.txt", "0 1\n0 1\n900 1\n");

  run({"pagerank", path, "--insert", insert, "--delete", remove, "--output-graph", at("new.h5"), "--output",
       at("static.h5"), "--tolerance", "1e-14", "--report", at("report.json"), "--device", "host"});

  const auto counted = report();
  EXPECT_EQ(counted["new_vertices"], 601 - 512);
  EXPECT_EQ(counted["inserted"].get<int>() + counted["present"].get<int>(), 5);
  EXPECT_EQ(counted["deleted"].get<int>() + counted["missing"].get<int>(), 3);
  run({"check", at("new.h5")});
  const auto expected = ranks({at("new.h5"), "--tolerance", "1e-14"});
  ASSERT_EQ(expected.size(), 601u);
  for (const char* method : {"nd", "dt", "df", "dfp", "dfr"}) {
    SCOPED_TRACE(method);
    const auto found = ranks({path, "--insert", insert, "--delete", remove, "--method", method, "--previous",
                              at("old.h5"), "--report", at("report.json"), "--force"});
    ASSERT_EQ(found.size(), expected.size());
    const bool exact = method == std::string("nd") || method == std::string("dt");
    for (std::size_t v = 0; v < found.size(); ++v) ASSERT_NEAR(found[v], expected[v], exact ? 1e-9 : 1e-7);
    EXPECT_GT(report()["initially_affected"], 0);
    EXPECT_TRUE(report()["solver"]["converged"]);
  }
}

TEST_F(RankBatchCli, SaysWhenAllVerticesWereAffected) {
  const std::string path = ranked_graph();
  std::string edges;
  for (int u = 0; u < 500; u += 2)
    edges += std::to_string(u) + " " + std::to_string((u * 7 + 1) % 512) + "\n";
  const std::string insert = file("insert.txt", edges);
  for (const std::string when : {"above-half", "never"}) {
    SCOPED_TRACE(when);
    const auto found = ranks({path, "--insert", insert, "--method", "dfp", "--previous", at("old.h5"),
                              "--affect-all", when, "--verify", "--report", at("report.json"), "--force"});
    EXPECT_EQ(found.size(), 512u);
    EXPECT_EQ(report()["widened_iterations"].get<int>() > 0, when == "above-half");
  }
}

TEST_F(RankBatchCli, SaysWhatAWeightedOrTimedGraphNeedsOfABatch) {
  const std::string weighted = graph("rmat", 4, {"--weights", "uniform"});
  run({"convert", file("edges.txt", "0 1 7\n1 2 8\n"), at("timed.h5"), "--timestamps", "--quiet"});
  const std::string bare[] = {
      file("bare.txt", "1 2\n"),
      file("no.txt", "1 2 x\n"),
      file("bare.bin", "01234567"),
      file("bare.graph", "2 1\n2\n1\n"),
      file("bare.gr", "p tw 2 1\n1 2\n"),
      file("bare.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")};
  for (const std::string& batch : bare) {
    refuse(3, "; the graph is weighted, so every edge to insert needs a weight",
           {"pagerank", weighted, "--insert", batch, "--output", at("out.h5")});
    refuse(3, "; the graph has times, so every edge to insert needs one",
           {"pagerank", at("timed.h5"), "--insert", batch, "--output", at("out.h5")});
    refuse(3, "omit --weights column", {"convert", batch, at("out.h5"), "--weights", "column"});
    refuse(3, "omit --timestamps", {"convert", batch, at("out.h5"), "--timestamps"});
  }
}

TEST_F(RankBatchCli, ABatchMayBeEmpty) {
  const std::string path = ranked_graph();
  const auto before = ranks({path, "--tolerance", "1e-14"});
  for (const char* nothing : {"", "# nothing today\n"}) {
    for (const char* option : {"--insert", "--delete"}) {
      SCOPED_TRACE(option);
      const auto found = ranks({path, option, file("batch.txt", nothing), "--method", "dfp", "--previous",
                                at("old.h5"), "--report", at("report.json"), "--force"});

      ASSERT_EQ(found.size(), before.size());
      for (std::size_t v = 0; v < found.size(); ++v) ASSERT_NEAR(found[v], before[v], 1e-12);
      EXPECT_EQ(report()["initially_affected"], 0);
    }
  }
}

TEST_F(RankBatchCli, BringsNoPartitionWithoutAffectedVertices) {
  const std::string path = graph("grid", 12, {"--undirected"});
  run({"pagerank", path, "--output", at("old.h5"), "--quiet", "--device", "host"});
  const std::string remove = file("delete.txt", "5 6\n");
  for (const char* method : {"nd", "df", "dfp"}) {
    SCOPED_TRACE(method);
    const std::vector<std::string> batch{"--delete",   remove,       "--method", method,
                                         "--previous", at("old.h5"), "--report", at("report.json")};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {path, "--force"});
      more.insert(more.end(), batch.begin(), batch.end());
      return more;
    };
    const auto whole = ranks(with({}));
    EXPECT_EQ(report()["partitions_read"], 1);
    EXPECT_EQ(ranks(with({"--partitions", "16", "--slots", "3"})), whole);
    const auto figures = report();
    EXPECT_EQ(figures["partitions"], 16);
    if (method == std::string("nd")) {
      EXPECT_EQ(figures["partitions_read"], 16);
    } else {
      EXPECT_LT(figures["partitions_read"], 16);
      EXPECT_GT(figures["partition_transfers"], 0);
    }
  }
}

TEST_F(RankBatchCli, FollowsGraphsLargerThanHostMemory) {
  const auto graphs = {std::pair(graph("kronecker", 16, {"--undirected", "--weights", "uniform"}), " 0.75"),
                       std::pair(graph("rmat", 16, {"--reverse"}), "")};
  for (const auto& [path, weight] : graphs) {
    std::string lines, gone;
    const auto offsets = read_numbers(path, "/out/indptr"), targets = read_numbers(path, "/out/indices");
    for (std::size_t i = 0; i < 400; ++i) {
      lines += std::to_string(i * 7919 % 65600) + ' ' + std::to_string(i * i % 65500) + weight + '\n';
      const std::size_t v = i * 151;
      if (offsets[v] < offsets[v + 1])
        gone +=
            std::to_string(v) + ' ' + std::to_string(targets[static_cast<std::size_t>(offsets[v])]) + '\n';
      gone += "3 " + std::to_string(i) + '\n';
    }
    const std::string insert = file("insert.txt", lines), remove = file("delete.txt", gone);
    run({"pagerank", path, "--output", at("old.h5"), "--quiet", "--force", "--device", "host"});
    std::vector<const char*> methods{"static", "nd", "dt", "df", "dfp", "dfr"};
    if (kSanitized) methods = {"dt", "dfp"};
    for (const char* method : methods) {
      SCOPED_TRACE(path + ", " + method);
      const auto follow = [&](const std::string& name, std::vector<std::string> more) {
        std::vector<std::string> arguments{"pagerank",       path,
                                           "--insert",       insert,
                                           "--delete",       remove,
                                           "--method",       method,
                                           "--output",       at(name + ".h5"),
                                           "--output-graph", at(name + "_graph.h5"),
                                           "--report",       at("report.json"),
                                           "--device",       "host",
                                           "--force",        "--quiet",
                                           "--threads",      "2"};
        if (method != std::string("static")) arguments.insert(arguments.end(), {"--previous", at("old.h5")});
        arguments.insert(arguments.end(), more.begin(), more.end());
        run(std::move(arguments));
        return report();
      };
      const auto whole = follow("whole", {});
      const auto tight = follow("tight", {"--host-memory", "10MiB"});

      EXPECT_EQ(read_file(at("tight.h5")), read_file(at("whole.h5")));
      EXPECT_EQ(read_file(at("tight_graph.h5")), read_file(at("whole_graph.h5")));
      for (const char* figure : {"inserted", "present", "deleted", "missing", "new_vertices"})
        EXPECT_EQ(tight[figure], whole[figure]) << figure;
      EXPECT_GT(whole["deleted"], 0);
      EXPECT_GT(tight["partitions"], 1);
      EXPECT_LE(tight["peak_host_bytes"], 10u << 20);
      EXPECT_GT(whole["peak_host_bytes"], 10u << 20);
    }
  }
  run({"check", at("tight_graph.h5")});
}

TEST_F(RankBatchCli, FollowsFromTheFileWhatHasInEdgesThere) {
  const std::string path = ranked_graph();
  const std::string insert = file("insert.txt", "1 2\n");

  refuse(2, "--reverse",
         {"pagerank", path, "--transport", "file", "--insert", insert, "--method", "df", "--previous",
          at("old.h5"), "--output", at("x.h5"), "--device", "host"});
}

TEST_F(RankBatchCli, VerifiesWhateverMethodAndWhereverTheGraphIs) {
  const std::string path = graph("rmat", 9, {"--reverse", "--weights", "uniform"});
  const std::string insert = file("insert.txt", "1 2 0.5\n3 500 1\n600 4 2\n"),
                    remove = file("delete.txt", "0 1\n900 1\n");
  run({"pagerank", path, "--weighted", "--output", at("old.h5"), "--quiet", "--device", "host"});
  const std::vector<std::string> batch{"--weighted", "--insert", insert, "--delete", remove, "--force"};
  for (const char* method : {"static", "nd", "dt", "df", "dfp", "dfr"}) {
    SCOPED_TRACE(method);
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {path, "--method", method});
      if (method != std::string("static")) more.insert(more.end(), {"--previous", at("old.h5")});
      more.insert(more.end(), batch.begin(), batch.end());
      return ranks(std::move(more));
    };
    const auto expected = with({});
    EXPECT_EQ(with({"--verify"}), expected);
    EXPECT_EQ(with({"--verify", "--transport", "file"}), expected);
  }
  ranks({path, "--verify", "--transport", "file"});
}

TEST_F(RankBatchCli, PlansABatchWithoutFollowingIt) {
  const std::string path = graph("rmat", 12, {"--reverse"});
  const std::string insert = file("insert.txt", "1 2\n3 500\n"), wrong = file("wrong.txt", "1 two\n"),
                    far = file("far.txt", "0 99999\n");
  run({"pagerank", path, "--output", at("old.h5"), "--quiet", "--device", "host"});
  for (const char* method : {"static", "nd", "dfp"}) {
    SCOPED_TRACE(method);
    const auto with = [&](std::vector<std::string> more) {
      std::vector<std::string> arguments{"pagerank", path, "--method", method, "--device", "host"};
      if (method != std::string("static")) arguments.insert(arguments.end(), {"--previous", at("old.h5")});
      arguments.insert(arguments.end(), more.begin(), more.end());
      return arguments;
    };
    const auto plan = run(with({"--insert", insert, "--plan", "--output-graph", at("new.h5")}));
    EXPECT_NE(plan.out.find("device memory"), std::string::npos) << plan.out;
    EXPECT_FALSE(std::filesystem::exists(at("new.h5")));
    const auto grown = run(with({"--insert", far, "--plan"}));
    EXPECT_NE(grown.out.find("781.25 KiB"), std::string::npos) << grown.out;  // 100,000 ranks
    const auto little = sluice(with({"--insert", insert, "--plan", "--device-memory", "4KiB"}));
    EXPECT_EQ(little.status, 4) << little.err;
    EXPECT_NE(little.out.find("of 4.00 KiB allowed: does not fit"), std::string::npos) << little.out;
    refuse(3, "wrong.txt:1:", with({"--insert", wrong, "--plan"}));
  }
}

TEST_F(RankBatchCli, NamesTheUpdatedGraphInTheResult) {
  const std::string path = ranked_graph();
  const std::string insert = file("insert.txt", "1 2\n3 500\n");
  run({"pagerank", path, "--insert", insert, "--output-graph", at("new.h5"), "--output", at("with.h5"),
       "--device", "host"});
  run({"pagerank", path, "--insert", insert, "--output", at("without.h5"), "--device", "host"});
  run({"pagerank", at("new.h5"), "--output", at("of_new.h5"), "--device", "host"});

  // The graph that was written accepts each of these files as its earlier ranks.
  for (const char* name : {"with.h5", "without.h5", "of_new.h5"}) {
    ranks({at("new.h5"), "--method", "df", "--previous", at(name)});
  }
  refuse(3, "ranks of another graph",
         {"pagerank", path, "--method", "df", "--previous", at("with.h5"), "--output", at("x.h5")});
}

TEST_F(RankBatchCli, FollowsRanksThatConvergedAlone) {
  const std::string path = ranked_graph();
  const std::string insert = file("insert.txt", "1 2\n");
  const auto earlier = [&](const char* name, std::vector<std::string> more) {
    std::vector<std::string> arguments{"pagerank", path, "--device", "host", "--output", at(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run(arguments);
  };
  earlier("cut.h5", {"--max-iterations", "1"});
  earlier("coarse.h5", {"--tolerance", "1e-4"});
  earlier("exact.h5", {});
  earlier("strict.h5", {"--norm", "l1"});
  earlier("frontier.h5", {"--method", "df", "--previous", at("exact.h5"), "--frontier-tolerance", "0.5"});
  for (const char* method : {"dt", "df", "dfp", "dfr"}) {
    const auto follow = [&](const char* previous) {
      return std::vector<std::string>{"pagerank", path,         "--insert",   insert,     "--method",
                                      method,     "--previous", at(previous), "--device", "host",
                                      "--force",  "--output",   at("x.h5")};
    };
    refuse(3, "not converged", follow("cut.h5"));
    refuse(3, "found with --tolerance 0.0001, coarser than 1e-10", follow("coarse.h5"));
    refuse(3, "found with --frontier-tolerance 0.5, coarser than 1e-06", follow("frontier.h5"));
    auto in_l1 = follow("exact.h5"), in_l2 = follow("strict.h5");
    in_l1.insert(in_l1.end(), {"--norm", "l1"});
    in_l2.insert(in_l2.end(), {"--norm", "l2"});
    refuse(3, "found with --norm linf, coarser than l1", in_l1);
    run(in_l2);
  }
  for (const char* previous : {"cut.h5", "coarse.h5", "frontier.h5"}) {
    ranks({path, "--insert", insert, "--method", "nd", "--previous", at(previous)});
  }
}

TEST_F(RankBatchCli, AppendsVerticesByTheirOriginalIds) {
  const std::string edges = file("edges.txt", "70 1000\n1000 70\n1000 500000\n");
  run({"convert", edges, at("edges.h5"), "--quiet"});
  const std::string insert = file("insert.txt", "500000 80\n60 80\n70 1000\n");

  run({"pagerank", at("edges.h5"), "--original-ids", "--insert", insert, "--output-graph", at("new.h5"),
       "--output", at("ranks.h5"), "--device", "host"});

  EXPECT_EQ(read_numbers(at("new.h5"), "/vertices/original_id"),
            (std::vector<std::int64_t>{70, 1000, 500000, 60, 80}));
  EXPECT_NE(run({"info", at("new.h5")}).out.find("edges.txt, changed by pagerank\n"), std::string::npos);
  run({"check", at("new.h5")});
  refuse(3, "use --original-ids to add vertices",
         {"pagerank", at("edges.h5"), "--insert", insert, "--output", at("x.h5")});
}

TEST_F(RankBatchCli, LetsNoGraphReplaceWhatItReadsOrWrites) {
  const std::string path = ranked_graph(), insert = file("insert.txt", "1 2\n");
  const std::string graph_bytes = read_file(path);
  std::filesystem::create_symlink(path, at("link.h5"));
  const auto refused = [&](const std::string& what, const std::string& output_graph) {
    refuse(2, "--output-graph: " + output_graph + " is " + what,
           {"pagerank", path, "--output", at("x.h5"), "--report", at("x.json"), "--insert", insert, "--force",
            "--output-graph", output_graph});
    EXPECT_FALSE(std::filesystem::exists(at("x.h5")));
  };
  refused("the file of GRAPH", path);
  refused("the file of GRAPH", at("link.h5"));
  refused("the file of --output", at("x.h5"));
  refused("the file of --output",
          at("../" + std::filesystem::path(at("x.h5")).parent_path().filename().string() + "/x.h5"));
  refused("the file of --report", at("x.json"));
  refused("the file of --insert", insert);
  refuse(2, "is the file of --previous",
         {"pagerank", path, "--output", at("x.h5"), "--insert", insert, "--method", "nd", "--previous",
          at("old.h5"), "--force", "--output-graph", at("old.h5")});
  EXPECT_TRUE(read_file(path) == graph_bytes);
}

TEST_F(RankBatchCli, RefusesWhatDoesNotFit) {
  const std::string path = ranked_graph();
  const std::string insert = file("insert.txt", "1 2\n");
  const std::string wrong = file("wrong.txt", "1 two\n");
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"pagerank", path, "--output", at("x.h5"), "--device", "host"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };

  refuse(2, "--method df needs earlier ranks", with({"--method", "df"}));
  refuse(2, "--previous does not apply with --method static", with({"--previous", at("old.h5")}));
  refuse(2, "--output-graph does not apply", with({"--output-graph", at("y.h5")}));
  refuse(2, "--affect-all does not apply with --method dfr",
         with({"--method", "dfr", "--previous", at("old.h5"), "--affect-all", "never"}));
  refuse(2, "--prune-tolerance does not apply with --method df",
         with({"--method", "df", "--previous", at("old.h5"), "--prune-tolerance", "1e-7"}));
  refuse(2, "--frontier-tolerance: must be finite and not negative",
         with({"--method", "df", "--previous", at("old.h5"), "--frontier-tolerance", "-1"}));
  refuse(2, "--rows does not apply with --method df",
         with({"--method", "df", "--previous", at("old.h5"), "--rows", "listed"}));
  refuse(2, "--rows sliced: only on a GPU", with({"--rows", "sliced"}));
  refuse(2, "--split does not apply with --method static", with({"--split", "in"}));
  refuse(2, "--split: only on a GPU",
         with({"--method", "dfp", "--previous", at("old.h5"), "--insert", insert, "--split", "in"}));
  refuse(
      2, "--split: only on a GPU",
      with({"--method", "dfp", "--previous", at("old.h5"), "--insert", insert, "--split", "in", "--plan"}));
  refuse(2, "does not store in-edges (convert its edges with --reverse",
         with({"--insert", insert, "--transport", "file"}));
  refuse(3, "wrong.txt:1:", with({"--insert", wrong}));
  refuse(3, "no such file", with({"--method", "nd", "--previous", at("absent.h5")}));
  refuse(3, "is not an HDF5 file", with({"--method", "nd", "--previous", insert}));
  refuse(3, "dataset /rank is missing", with({"--method", "nd", "--previous", path}));
  refuse(3, "found with --dangling uniform",
         with({"--method", "nd", "--previous", at("old.h5"), "--dangling", "self-loop"}));
  refuse(3, "found with --damping", with({"--method", "nd", "--previous", at("old.h5"), "--damping", "0.5"}));
}

}  // namespace
}  // namespace sluice::test
