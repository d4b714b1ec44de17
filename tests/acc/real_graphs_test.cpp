// The solvers on real graphs, read through the converter.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "acc/oracle.hpp"
#include "cli/process.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "io/convert/convert.hpp"
#include "io/graph_file/graph_file.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

const std::filesystem::path kData = paths::kSharedData;
/// The oracles' sets take seconds beyond that.
constexpr std::uint64_t kMostEdges = 150'000;

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void expect_as_in_oracles(const Graph& graph) {
  const Device device({DeviceChoice::host, 2, 0});
  const Vertex source = static_cast<Vertex>(graph.vertices() / 3);
  const acc::AccGraph search(device, graph, {.in_edges = true, .weights = true});
  const acc::BfsResult found = bfs(search, source);
  const OracleSearch expected = oracle_bfs(graph, source);
  EXPECT_TRUE(same(found.depths, expected.depths));
  EXPECT_TRUE(same(found.parents, expected.parents));
  EXPECT_TRUE(same(sssp(search, source).distances, oracle_distances(graph, source)));
  EXPECT_TRUE(same(core_numbers(acc::AccGraph(device, graph, {.simple = true})).cores, oracle_cores(graph)));
  EXPECT_TRUE(same(components(search).components, oracle_components(graph)));
}

TEST(RealGraphs, AreSolvedAsByPlainCode) {
  if (!std::filesystem::exists(kData / "counts.json"))
    GTEST_SKIP() << "the real graphs are not at " << kData << "; set SLUICE_SHARED_DATA to test them";
  nlohmann::json counts;
  std::ifstream(kData / "counts.json") >> counts;
  const Folder folder;
  int compared = 0;

  for (const auto& [name, entry] : counts.items()) {
    if (!entry.at("stat").is_object() || entry.at("stat").at("edge_lines") > kMostEdges) continue;
    SCOPED_TRACE(name);
    io::ConvertOptions rules;
    rules.keep_self_loops = true;
    rules.reverse = compared % 2 == 0;
    rules.undirected = compared % 3 == 0;
    rules.weights = io::WeightRule::uniform;
    rules.force = true;
    try {
      io::convert(*io::open_edge_file((kData / name).string(), {}), folder / "graph.h5", rules);
    } catch (const InputError&) {
      continue;  // the readers' tests say which files are refused, and why
    }
    const Graph graph = io::read_graph(folder / "graph.h5", {.in = rules.reverse && !rules.undirected});
    if (graph.vertices() > 0) expect_as_in_oracles(graph);
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace sluice::test
