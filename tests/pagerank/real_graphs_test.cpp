// Static PageRank of real graphs, read through the converter, compared with the oracle.
#include <gtest/gtest.h>

#include "engine/pagerank/static/pagerank.hpp"
#include "io/real_graphs.hpp"
#include "pagerank/oracle.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

/// The oracle takes seconds for a million edges, and many times as long under sanitizers.
constexpr std::uint64_t kMostEdges = unless_sanitized(~std::uint64_t{0}, std::uint64_t{500'000});
constexpr int kFewest = unless_sanitized(52, 45);

TEST(RealGraphs, HaveTheOraclesRanks) {
  const Device device({DeviceChoice::host, 2, 0});
  const auto rule = [](io::ConvertOptions& rules, int i) { rules.reverse = i % 2 == 0; };
  for_each_real_graph(kMostEdges, kFewest, rule, [&](const Graph& graph) {
    for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
      pagerank::Options options;
      options.dangling = dangling;
      const pagerank::Result result = pagerank::run_pagerank(device, graph, options);
      // The oracle's remaining error is seven times its last change: a thousandth of what is tested.
      const RankError error = error_of(result.ranks.span(), oracle_ranks(graph, options, 0, 1e-13L));
      EXPECT_TRUE(result.converged());
      EXPECT_LT(error.linf, 1e-9);
      EXPECT_LT(error.sum, 1e-12);
    }
  });
}

}  // namespace
}  // namespace sluice::test
