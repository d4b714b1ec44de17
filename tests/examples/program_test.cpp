// The programs of apps/examples, run as a user runs them.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/process.hpp"
#include "io/graph_file.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

class Example : public testing::Test {
 protected:
  void SetUp() override { io::write_graph(folder_ / "graph.h5", stat::triangles(), false); }

  Finished run(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::string(SLUICE_EXAMPLES) + "/" + program);
    return Process(std::move(arguments)).wait();
  }

  Folder folder_;
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

TEST_F(Example, WrongUseIsOneLineAndAStatus) {
  EXPECT_EQ(run("non_backtracking_walk", {}).status, 2);
  EXPECT_EQ(run("importance_sample", {folder_ / "graph.h5", "abacus"}).status, 2);
  const auto missing = run("importance_sample", {folder_ / "nothing.h5", "host"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_NE(missing.err.find("nothing.h5"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
