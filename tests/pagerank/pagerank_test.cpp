// Static PageRank compared with an oracle, on hard graphs.
#include "engine/pagerank/static/pagerank.hpp"

#include <gtest/gtest.h>

#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/oracle.hpp"

namespace sluice::test {
namespace {

using stat::make_graph;

pagerank::Options options_of(pagerank::Dangling dangling, bool weighted) {
  pagerank::Options options;
  options.dangling = dangling;
  options.weighted = weighted;
  return options;
}

class PageRank : public testing::TestWithParam<std::tuple<pagerank::Dangling, bool>> {
 protected:
  pagerank::Options options() const { return options_of(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(PageRank, IsTheOracles) {
  const Device device({DeviceChoice::host, 2, 0});

  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    const pagerank::Result result = pagerank::run_pagerank(device, graph, options());

    const RankError error = error_of(result.ranks.span(), oracle_ranks(graph, options()));
    EXPECT_LT(error.linf, 1e-9);
    EXPECT_LT(error.sum, 1e-12);
    EXPECT_TRUE(result.converged());
    EXPECT_LE(result.residual, 1e-10);
  }
}

TEST_P(PageRank, CountsIterations) {
  const Device device({DeviceChoice::host, 1, 0});

  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (const std::uint32_t iterations : {1u, 3u}) {
      pagerank::Options few = options();
      few.max_iterations = iterations;
      few.tolerance = 0;

      const pagerank::Result result = pagerank::run_pagerank(device, graph, few);

      EXPECT_EQ(result.history.size(), result.iterations);
      EXPECT_TRUE(result.converged() || result.iterations == iterations);
      EXPECT_EQ(result.kernels.launches, 0u) << "on the host";
      EXPECT_LT(error_of(result.ranks.span(), oracle_ranks(graph, few, iterations)).linf, 1e-15);
    }
  }
}

TEST_P(PageRank, ChangesNoBitWithThreads) {
  const Graph graph = generated(io::GraphKind::rmat, 12, false, io::WeightRule::uniform);
  const pagerank::Result alone = pagerank::run_pagerank(Device({DeviceChoice::host, 1, 0}), graph, options());

  for (const unsigned threads : {2u, 3u, 4u}) {
    const pagerank::Result result =
        pagerank::run_pagerank(Device({DeviceChoice::host, threads, 0}), graph, options());

    EXPECT_EQ(result.iterations, alone.iterations);
    EXPECT_EQ(result.residual, alone.residual);
    EXPECT_TRUE(std::equal(result.ranks.begin(), result.ranks.end(), alone.ranks.begin()));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, PageRank,
                         testing::Combine(testing::Values(pagerank::Dangling::uniform,
                                                          pagerank::Dangling::self_loop),
                                          testing::Bool()));

TEST(PageRankNorms, AreWhatChanged) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::none);
  pagerank::Options options;
  options.max_iterations = 6;
  const auto before = oracle_ranks(graph, options, 5), after = oracle_ranks(graph, options, 6);
  double largest = 0, sum = 0, squares = 0;
  for (std::size_t v = 0; v < after.size(); ++v) {
    const auto change = static_cast<double>(std::fabs(after[v] - before[v]));
    largest = std::max(largest, change);
    sum += change;
    squares += change * change;
  }

  for (const auto& [norm, expected] :
       {std::pair{pagerank::RankNorm::linf, largest}, std::pair{pagerank::RankNorm::l1, sum},
        std::pair{pagerank::RankNorm::l2, std::sqrt(squares)}}) {
    options.norm = norm;
    EXPECT_NEAR(pagerank::run_pagerank(device, graph, options).residual, expected, 1e-13);
  }
}

TEST(PageRankPrecision, OfHalfTheBytesSaysWhereItEnds) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  pagerank::Options options;
  options.precision = pagerank::RankPrecision::f32;
  options.norm = pagerank::RankNorm::l1;
  options.tolerance = 1e-5;
  const auto exact = oracle_ranks(graph, options);
  const pagerank::Result coarse = pagerank::run_pagerank(device, graph, options);
  EXPECT_TRUE(coarse.converged());
  EXPECT_LT(error_of(coarse.ranks.span(), exact).l1, 1e-5 * 0.85 / 0.15 + 3.4e-7);
  EXPECT_LT(error_of(coarse.ranks.span(), exact).sum, 1e-12);

  options.tolerance = 1e-15;
  const pagerank::Result fine = pagerank::run_pagerank(device, graph, options);
  EXPECT_EQ(fine.end, pagerank::RankEnd::stalled);
  EXPECT_LT(fine.iterations, options.max_iterations);
  EXPECT_LT(error_of(fine.ranks.span(), exact).l1, 3.4e-7);
}

TEST(PageRankPrecision, OfAllBytesReachesWhatF32CanNot) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  pagerank::Options options;
  options.tolerance = 1e-16;

  const pagerank::Result result = pagerank::run_pagerank(device, graph, options);

  EXPECT_TRUE(result.converged());
  EXPECT_LT(error_of(result.ranks.span(), oracle_ranks(graph, options)).linf, 1e-15);
}

TEST(PageRankObservers, SeeEveryIterationAndCanEndTheRun) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  std::vector<std::uint32_t> seen;

  EXPECT_THROW(pagerank::run_pagerank(device, graph, {},
                                      [&](const pagerank::RankIteration& iteration) {
                                        seen.push_back(iteration.number);
                                        if (iteration.number == 3) throw RunError("enough");
                                      }),
               RunError);

  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(PageRankInEdges, AreTakenWhereStored) {
  const Device device({DeviceChoice::host, 2, 0});
  io::ConvertOptions rules;
  rules.reverse = true;
  const Graph with = bench::generate_graph({io::GraphKind::rmat, 10}, rules);
  rules.reverse = false;
  const Graph without = bench::generate_graph({io::GraphKind::rmat, 10}, rules);
  ASSERT_FALSE(with.in.offsets.empty());

  const pagerank::Result stored = pagerank::run_pagerank(device, with),
                         made = pagerank::run_pagerank(device, without);

  EXPECT_TRUE(std::equal(stored.ranks.begin(), stored.ranks.end(), made.ranks.begin()));
}

TEST(PageRankOptionsTest, OutOfRangeAreRefused) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = make_graph(2, {{0, 1}}, false);
  const auto refused = [&](auto change) {
    pagerank::Options options;
    change(options);
    EXPECT_THROW(pagerank::run_pagerank(device, graph, options), UsageError);
  };
  refused([](auto& o) { o.damping = 1; });
  refused([](auto& o) { o.damping = -0.1; });
  refused([](auto& o) { o.tolerance = -1; });
  refused([](auto& o) { o.tolerance = std::nan(""); });
  refused([](auto& o) { o.max_iterations = 0; });
  refused([](auto& o) { o.weighted = true; });
}

}  // namespace
}  // namespace sluice::test
