// The programs of apps/examples, run as users run them.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/process.hpp"
#include "io/graph_file/graph_file.hpp"
#include "paths.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

class Example : public testing::Test {
 protected:
  void SetUp() override { io::write_graph(folder_ / "graph.h5", stat::triangles(), false); }

  Finished run(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::string(paths::kExamples) + "/" + program);
    return Process(std::move(arguments)).wait();
  }

  static Graph path(Vertex vertices) {
    std::vector<stat::Edge> edges;
    for (Vertex v = 0; v + 1 < vertices; ++v) edges.push_back({v, v + 1});
    return stat::make_undirected(vertices, std::move(edges), false);
  }

  TemporaryFolder folder_;
};

TEST_F(Example, NonBacktrackingWalkPrintsWalks) {
  const auto finished = run("non_backtracking_walk", {folder_ / "graph.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 6) << finished.out;
  EXPECT_NE(finished.out.find("60 walks, "), std::string::npos) << finished.out;
}

TEST_F(Example, ImportanceSamplePrintsEdges) {
  const auto finished = run("importance_sample", {folder_ / "graph.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 11) << finished.out;
  EXPECT_NE(finished.out.find("60 samples, "), std::string::npos) << finished.out;
}

TEST_F(Example, RareLayersPrintsEdges) {
  const auto finished = run("rare_layers", {folder_ / "graph.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 11) << finished.out;
  EXPECT_NE(finished.out.find("60 samples, "), std::string::npos) << finished.out;
}

TEST_F(Example, WeightedPoolPrintsEdges) {
  const auto finished = run("weighted_pool", {folder_ / "graph.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 6) << finished.out;
  EXPECT_NE(finished.out.find("100 pools, 1800 edges"), std::string::npos) << finished.out;
}

TEST_F(Example, CoreNodesPrintsEdges) {
  const auto finished = run("core_nodes", {folder_ / "graph.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 11) << finished.out;
  EXPECT_NE(finished.out.find("60 samples, "), std::string::npos) << finished.out;
}

TEST_F(Example, LabelPropagationPrintsLabels) {
  io::write_graph(folder_ / "path.h5", path(1000), true);

  const auto finished = run("label_propagation", {folder_ / "path.h5", "host"});

  EXPECT_EQ(finished.status, 0) << finished.err;
  // A label spreads over 50 vertices to either side; halfway between two labels the smaller wins.
  EXPECT_TRUE(finished.out.starts_with("0 51\n100 100\n200 100\n")) << finished.out;
  EXPECT_NE(finished.out.find("10 labels, 100 rounds on host"), std::string::npos) << finished.out;
}

TEST_F(Example, WrongUseIsOneLineAndAStatus) {
  EXPECT_EQ(run("non_backtracking_walk", {}).status, 2);
  EXPECT_EQ(run("importance_sample", {folder_ / "graph.h5", "abacus"}).status, 2);
  EXPECT_EQ(run("label_propagation", {}).status, 2);
  const auto missing = run("importance_sample", {folder_ / "nothing.h5", "host"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_NE(missing.err.find("nothing.h5"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
