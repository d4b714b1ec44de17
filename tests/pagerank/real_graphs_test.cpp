// Static PageRank of real graphs, read through the converter, against the oracle.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "io/convert/convert.hpp"
#include "io/graph_file/graph_file.hpp"
#include "pagerank/oracle.hpp"
#include "paths.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

const std::filesystem::path kData = paths::kSharedData;
/// The oracle takes seconds for a million edges, and many times as long under sanitizers.
constexpr std::uint64_t kMostEdges = unless_sanitized(~std::uint64_t{0}, std::uint64_t{500'000});
constexpr int kFewest = unless_sanitized(52, 45);

TEST(RealGraphs, HaveTheOraclesRanks) {
  if (!std::filesystem::exists(kData / "counts.json"))
    GTEST_SKIP() << "the real graphs are not at " << kData << "; set SLUICE_SHARED_DATA to test them";
  nlohmann::json counts;
  std::ifstream(kData / "counts.json") >> counts;
  const Device device({DeviceChoice::host, 2, 0});
  const Folder folder;
  int compared = 0;

  for (const auto& [name, entry] : counts.items()) {
    if (!entry.at("stat").is_object() || entry.at("stat").at("edge_lines") > kMostEdges) continue;
    SCOPED_TRACE(name);
    io::ConvertOptions rules;
    rules.keep_self_loops = true;
    rules.reverse = compared % 2 == 0;
    rules.force = true;
    try {
      io::convert(*io::open_edge_file((kData / name).string(), {}), folder / "graph.h5", rules);
    } catch (const InputError&) {
      continue;  // the readers' tests say which files are refused, and why
    }
    const Graph graph = io::read_graph(folder / "graph.h5", {.in = rules.reverse});
    for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
      pagerank::Options options;
      options.dangling = dangling;
      const pagerank::Result result = pagerank::run_pagerank(device, graph, options);
      // Seven times the last change are left to go: a thousandth of what is asked.
      const RankError error = error_of(result.ranks.span(), oracle_ranks(graph, options, 0, 1e-13L));
      EXPECT_TRUE(result.converged());
      EXPECT_LT(error.linf, 1e-9);
      EXPECT_LT(error.sum, 1e-12);
    }
    ++compared;
  }
  EXPECT_GT(compared, kFewest);
}

}  // namespace
}  // namespace sluice::test
