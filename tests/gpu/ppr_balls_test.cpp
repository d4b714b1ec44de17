// Personalized PageRank on a GPU ball by ball, in the graph's lists and in sub-graphs, and with integer
// scores.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/ppr/evaluate.hpp"
#include "gpu/ppr.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {
namespace {

class OneByOne : public GpuPpr, public testing::WithParamInterface<bool> {};

/// Balls in sub-graphs give the bits of balls in the graph's lists.
TEST_P(OneByOne, GoesOnAsTheHost) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : one_by_one_methods()) {
      for (const bool weighted : {false, true}) {
        for (const std::uint32_t balls : {1u, 3u, 16u}) {
          if (brief() && turn++ % 24 != 0) continue;
          options.weighted = weighted, options.balls = balls, options.sub_graphs = GetParam();
          compare(*gpu_, graph, starts_of(queries_of(graph)), options);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(GpuPpr, OneByOne, testing::Bool(), [](const auto& sub_graphs) {
  return sub_graphs.param ? "InSubGraphs" : "InTheGraph";
});

TEST_F(GpuPpr, GoesOnOneByOneInTablesThatHash) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::uniform);
  std::vector<WeightedSeeds> queries = queries_of(graph);
  if (brief()) queries = {queries[3], queries.back()};
  Asked all;
  for (ppr::Options options : watched(one_by_one_methods(), 0, 4)) {
    options.weighted = true;
    options.expand = std::min(options.expand, brief() ? 0.002 : 0.01);
    const Asked some = asked(compare(*gpu_, graph, starts_of(queries), options), graph, options);
    all.once += some.once, all.again += some.again;
    options.balls = 5;  // a team also gives up balls that do not fit
    compare(*gpu_, graph, starts_of(queries), options);
  }
  EXPECT_GT(all.once, 0u);
  EXPECT_GT(all.again, 0u);
}

/// Sub-graphs are in shared memory, or in global memory if they do not fit; first workspaces are too small.
TEST_F(GpuPpr, PutsSubGraphsWhereTheyFit) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::uniform);
  std::vector<WeightedSeeds> queries = queries_of(graph);
  queries.push_back({{lone_vertex(graph), 1}});
  ppr::Options options = one_by_one_methods()[4];
  options.sub_graphs = true, options.expand = 0.002;
  // A block's share of shared memory depends on the GPU: 36 KiB on an H100.
  constexpr std::uint64_t kFitsAny = 4u << 10, kFitsNone = 36u << 10;
  std::size_t fast = 0, slow = 0;
  double searched = 0;  // the clock's resolution may be a microsecond
  for (const std::uint32_t units : {0u, ~0u}) {
    for (const std::uint32_t balls : {1u, 5u}) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted, options.balls = balls, options.score_units = units;
        const KeptRows found = compare(*gpu_, graph, starts_of(queries), options);
        const KeptRows host = ran(host_, graph, starts_of(queries), options).rows;
        for (std::size_t i = 0; i < found.figures.size(); ++i) {
          const std::uint64_t bytes = found.figures[i].sub_graph_bytes;
          EXPECT_EQ(bytes, host.figures[i].sub_graph_bytes) << i;
          searched += found.figures[i].extraction_seconds;
          fast += bytes <= kFitsAny, slow += bytes > kFitsNone;
        }
      }
    }
  }
  EXPECT_GT(fast, 0u);
  EXPECT_GT(slow, 0u);
  EXPECT_GT(searched, 0);
}

TEST_F(GpuPpr, ReadsSubGraphsInPlace) {
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::uniform);
  ppr::Options options = one_by_one_methods().front();
  options.sub_graphs = true;
  for (const bool weighted : {false, true}) {
    options.weighted = weighted;
    compare(*gpu_, graph, starts_of(queries_of(graph)), options, {.transport = Transport::mapped});
  }
}

/// A query counts one workspace for each ball that it diffuses at once: as many of the requested balls as
/// memory holds.
TEST_F(GpuPpr, CountsBallsThatMemoryHolds) {
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::none);
  const std::vector<WeightedSeeds> queries{{{0, 1}}};
  ppr::Options options = one_by_one_methods()[0];
  options.balls = 16;
  const Device ample({DeviceChoice::cuda, 1, 1u << 30});
  const std::uint64_t all = compare(ample, graph, starts_of(queries), options).figures[0].peak_bytes;

  const Device small({DeviceChoice::cuda, 1, ample.memory().peak() - all / 2});
  const std::uint64_t some = compare(small, graph, starts_of(queries), options).figures[0].peak_bytes;

  EXPECT_LE(some, all / 2);
  EXPECT_GT(some, 0u);
  EXPECT_EQ(some % (all / 16), 0u);
}

/// Every kernel, with tables that hash: some balls outgrow the first workspace.
TEST_F(GpuPpr, CountsUnitsOfBallsAsTheHost) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::uniform);
  const Starts starts = starts_of(queries_of(graph));
  std::vector<ppr::Options> kernels(4);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    ppr::Options& options = kernels[i];
    options.method = i == 0 ? ppr::Method::exact : ppr::Method::staged;
    options.length = i == 0 ? 3 : 0;
    options.stages = {2, 1};
    options.expand = 0.01;
    options.one_by_one = i > 1;
    options.balls = i == 3 ? 5 : 1;
    for (const ppr::BallDegree degree : {ppr::BallDegree::average, ppr::BallDegree::largest}) {
      options.unit_degree = degree;
      const KeptRows found = compare(*gpu_, graph, starts, options);
      EXPECT_GT(found.figures[0].units, 1000u);
      EXPECT_GT(asked(found, graph, options).again, 0u);
    }
  }
}

/// Every kernel, with tables that hash: workspaces for the same vertices need fewer bytes.
TEST_F(GpuPpr, TakesLessMemoryForScoresOf32Bits) {
  const Graph graph = generated(io::GraphKind::rmat, 13, false, io::WeightRule::uniform);
  const Starts starts = starts_of(queries_of(graph));
  std::vector<ppr::Options> kernels(3);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    ppr::Options& options = kernels[i];
    options.method = ppr::Method::staged;
    options.stages = {1, 2};
    options.weighted = true;
    options.one_by_one = i > 0;
    options.balls = i == 2 ? 5 : 1;
    const ppr::QueryFigures fine = compare(*gpu_, graph, starts, options).figures[0];
    for (const std::uint32_t units : {1000u, 1u << 24, ~0u}) {
      options.score_units = units;
      const ppr::QueryFigures coarse = compare(*gpu_, graph, starts, options).figures[0];
      EXPECT_LT(coarse.peak_bytes, fine.peak_bytes) << units;
    }
  }
}

/// With little memory, a query runs fewer balls at once, or one query runs alone, and fits as without
/// --balls.
TEST_F(GpuPpr, HasFewerBallsWhereMemoryIsShort) {
  const Graph in_memory = generated(io::GraphKind::rmat, 12, false, io::WeightRule::none);
  const Graph in_file = elsewhere(generated(io::GraphKind::rmat, 12, false, io::WeightRule::none));
  const Starts starts = starts_of({{{0, 1}}, {{17, 1}}});
  ppr::Options options = one_by_one_methods()[0];
  options.expand = brief() ? 0.01 : 0.05;
  const Ran expected = ran(host_, in_memory, starts, options);
  const auto fits = [&](std::uint64_t memory, std::uint32_t balls) {
    const auto device = open_gpu(memory);
    options.balls = balls;
    try {
      expect_same(ran(*device, in_file, starts, options), expected);
    } catch (const BudgetError&) {
      return false;
    }
    EXPECT_LE(device->memory().peak(), memory);
    return true;
  };
  std::uint64_t least = 256u << 10;
  while (!fits(least, 1)) least += 64u << 10;
  const std::uint64_t of_teams = 64u << 10;  // messages of the teams
  for (const std::uint64_t memory : {least + of_teams, 2 * least, 8 * least}) EXPECT_TRUE(fits(memory, 16));
}

}  // namespace
}  // namespace sluice::test
