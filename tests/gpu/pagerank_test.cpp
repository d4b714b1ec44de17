// PageRank on a GPU: the ranks, iterations and residuals of the host, bit for bit.
#include "engine/pagerank/static/pagerank.hpp"

#include <gtest/gtest.h>

#include "acc/edges_elsewhere.hpp"
#include "apps/bench/generated_graph.hpp"
#include "gpu/gpu.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

void expect_as_on_host(const Graph& graph, const Device& gpu, pagerank::Options options,
                       const pagerank::RankPlace& place) {
  if (brief()) options.max_iterations = std::min(options.max_iterations, 2u);
  const Device host({DeviceChoice::host, usable_cores(), 0});
  expect_same(pagerank::run_pagerank(gpu, graph, options, {}, place),
              pagerank::run_pagerank(host, graph, options));
}

TEST(GpuPageRank, IsThatOfTheHostOnHardGraphs) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const auto& [name, graph] : rank_graphs()) {
    if (brief() && graph.vertices() > 12 && name != "kronecker") continue;
    SCOPED_TRACE(name);
    for (const pagerank::Options& options : rank_options()) {
      for (const pagerank::RankFusion fusion : {pagerank::RankFusion::none, pagerank::RankFusion::all})
        expect_as_on_host(graph, *gpu, options, {.rows = pagerank::RankRows::sliced, .fusion = fusion});
      expect_as_on_host(graph, *gpu, options, {.rows = pagerank::RankRows::listed});
    }
  }
}

TEST(GpuPageRank, StopsAfterTheIterationsThatWereAllowed) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rank_rmat(true, false);
  pagerank::Options options;
  options.tolerance = 0;
  for (const pagerank::RankFusion fusion : {pagerank::RankFusion::none, pagerank::RankFusion::all}) {
    for (const std::uint32_t iterations : {1u, 2u, 3u, 7u, 64u, 65u, 66u}) {
      options.max_iterations = iterations;
      expect_as_on_host(graph, *gpu, options, {.fusion = fusion});
    }
  }
}

TEST(GpuPageRank, StopsWhereChangesNoLongerShrink) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rank_rmat(true, false);
  for (const pagerank::RankPrecision precision :
       {pagerank::RankPrecision::f64, pagerank::RankPrecision::f32}) {
    pagerank::Options options{.tolerance = 0, .max_iterations = 2000, .precision = precision};
    for (const pagerank::RankFusion fusion : {pagerank::RankFusion::none, pagerank::RankFusion::all}) {
      const pagerank::RankPlace place{.fusion = fusion};
      expect_as_on_host(graph, *gpu, options, place);
      if (brief()) continue;
      EXPECT_NE(pagerank::run_pagerank(*gpu, graph, options, {}, place).end, pagerank::RankEnd::limit);
    }
  }
}

TEST(GpuPageRank, TakesHubsByBlocks) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  io::ConvertOptions rules;
  rules.undirected = true;
  const Graph graph = bench::generate_graph({io::GraphKind::kronecker, rmat_scale()}, rules);
  for (const pagerank::Options& options : rank_options()) {
    if (options.weighted) continue;
    for (const pagerank::RankFusion fusion : {pagerank::RankFusion::none, pagerank::RankFusion::all})
      expect_as_on_host(graph, *gpu, options, {.rows = pagerank::RankRows::sliced, .fusion = fusion});
    expect_as_on_host(graph, *gpu, options, {.rows = pagerank::RankRows::listed});
  }
}

TEST(GpuPageRank, BringsInEdgesInPartitions) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rank_rmat(false, false);
  for (const pagerank::Options& options : rank_options()) {
    expect_as_on_host(graph, *gpu, options,
                      {.paging = {.partitions = 7, .slots = 2, .transport = Transport::copied}});
    expect_as_on_host(graph, *gpu, options,
                      {.paging = {.partitions = 40, .slots = 17, .transport = Transport::copied}});
    expect_as_on_host(graph, *gpu, options, {.paging = {.partitions = 9, .transport = Transport::mapped}});
  }
}

/// As under --distribution shard, where each rank's in-edges are in the graph's file alone.
TEST(GpuPageRank, ReadsInEdgesFromTheirFileOnceWhereTheyFit) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rank_rmat(true, false), file = left_elsewhere(graph);
  const Device host({DeviceChoice::host, usable_cores(), 0});
  for (const pagerank::Options& options : rank_options()) {
    const pagerank::Result expected = pagerank::run_pagerank(host, graph, options);
    for (const pagerank::RankRows rows : {pagerank::RankRows::automatic, pagerank::RankRows::listed}) {
      const pagerank::Result read = pagerank::run_pagerank(*gpu, file, options, {}, {.rows = rows});
      expect_same(read, expected);
      EXPECT_EQ(read.traffic.partitions, 1u);
      EXPECT_EQ(read.traffic.transfers, 0u);
      EXPECT_EQ(read.traffic.read_bytes, graph.edges() * (options.weighted ? 8 : 4));
    }
    const pagerank::Result brought = pagerank::run_pagerank(
        *gpu, file, options, {}, {.paging = {.partitions = 7, .transport = Transport::file}});
    expect_same(brought, expected);
    EXPECT_EQ(brought.traffic.partitions, 7u);
  }
}

}  // namespace
}  // namespace sluice::test
