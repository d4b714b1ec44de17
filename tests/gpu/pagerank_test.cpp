// PageRank on a GPU gives the host's ranks, iterations and residuals, bit for bit.
#include "engine/pagerank/static/pagerank.hpp"

#include <gtest/gtest.h>

#include "acc/edges_elsewhere.hpp"
#include "apps/bench/generated_graph.hpp"
#include "gpu/gpu.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "pagerank/batch_support.hpp"
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

/// Rows are sliced while later rows are being read, or listed rows are copied as they are read.
TEST(GpuPageRank, OfEdgesThatComeLateIsThatOfTheWholeGraph) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  io::ConvertOptions rules;
  rules.undirected = true;
  const Graph graph = bench::generate_graph({io::GraphKind::rmat, brief() ? 10u : 19u, 24}, rules);
  const TemporaryFolder folder;
  const std::string path = folder / "graph.h5";
  io::write_graph(path, graph, false);
  pagerank::Options few;
  few.max_iterations = 3;
  for (const pagerank::RankRows rows : {pagerank::RankRows::sliced, pagerank::RankRows::listed}) {
    const Graph coming = io::begin_reading(path, {}, 4);

    const pagerank::Result late = pagerank::run_pagerank(*gpu, coming, few, {}, {.rows = rows});

    expect_same(late, pagerank::run_pagerank(*gpu, graph, few, {}, {.rows = rows}));
    EXPECT_TRUE(coming.pending_edges->complete());
  }
}

/// Each iteration launches a sweep and its totals, or one kernel makes up to 64 iterations.
TEST(GpuPageRank, SaysWhatItsKernelsHoldAndHowManyAreLaunched) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = rank_rmat(true, false);
  const auto run = [&](pagerank::RankFusion fusion) {
    return pagerank::run_pagerank(*gpu, graph, {}, {}, {.fusion = fusion});
  };
  const pagerank::Result none = run(pagerank::RankFusion::none), all = run(pagerank::RankFusion::all);

  for (const pagerank::Result* result : {&none, &all}) EXPECT_GT(result->kernels.registers, 0u);
  EXPECT_GE(none.kernels.launches, 2 * none.iterations);
  EXPECT_LE(none.kernels.launches, 2 * (none.iterations + 1)) << "the next is under way";
  EXPECT_GE(all.kernels.launches, 1u);
  EXPECT_LT(all.kernels.launches, all.iterations);
  const pagerank::Result listed =
      pagerank::run_pagerank(*gpu, graph, {}, {}, {.rows = pagerank::RankRows::listed});
  EXPECT_EQ(listed.kernels.registers, 0u);
  EXPECT_EQ(listed.kernels.launches, 0u);
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

/// In-edges are coded if the transport is automatic, lists are unweighted and codes need fewer bytes.
TEST(GpuPageRank, BringsInEdgesInFewerBytes) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  io::ConvertOptions rules;
  rules.undirected = true, rules.weights = io::WeightRule::uniform;
  const Graph graph = bench::generate_graph({io::GraphKind::kronecker, rmat_scale()}, rules);
  for (pagerank::Options options : rank_options()) {
    if (brief()) options.max_iterations = std::min(options.max_iterations, 2u);
    const auto sweep = [&](const PagingOptions& paging) {
      return pagerank::run_pagerank(*gpu, graph, options, {}, {.paging = paging});
    };
    const Device host({DeviceChoice::host, usable_cores(), 0});
    const pagerank::Result expected = pagerank::run_pagerank(host, graph, options);
    for (const std::uint64_t partitions : {2u, 9u, 40u}) {
      const pagerank::Result coded = sweep({.partitions = partitions, .slots = 2}),
                             copied = sweep(
                                 {.partitions = partitions, .slots = 2, .transport = Transport::copied});
      expect_same(coded, expected);
      expect_same(copied, expected);
      // The partitions that stay for the next iteration depend on which arrive first.
      const std::uint64_t most = copied.traffic.host_to_device_bytes;
      if (options.weighted) {
        EXPECT_GT(coded.traffic.host_to_device_bytes, most - most / 256);
        EXPECT_LT(coded.traffic.host_to_device_bytes, most + most / 256);
      } else {
        EXPECT_LT(coded.traffic.host_to_device_bytes, most - most / 8);
      }
    }
  }
}

/// As under --distribution shard, the graph's file alone has each rank's in-edges.
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
      EXPECT_EQ(read.traffic.partition_transfers, 0u);
      EXPECT_EQ(read.traffic.read_bytes, graph.edges() * (options.weighted ? 8 : 4));
    }
    const pagerank::Result brought = pagerank::run_pagerank(
        *gpu, file, options, {}, {.paging = {.partitions = 7, .transport = Transport::file}});
    expect_same(brought, expected);
    EXPECT_EQ(brought.traffic.partitions, 7u);
  }
}

/// PageRank from all vertices by differences gives the host's ranks and iterations with every fusion.
void expect_phases(const Device& gpu, const Graph& graph, pagerank::Options options,
                   double frontier_tolerance) {
  using enum pagerank::RoundFusion;
  if (brief()) options.max_iterations = std::min(options.max_iterations, 3u);
  const Device host({DeviceChoice::host, usable_cores(), 0});
  pagerank::DynamicRanks on_host(host, graph, equal_ranks(graph), options);
  const pagerank::DynamicRankResult expected = rank_by_differences(on_host, graph, frontier_tolerance);
  const std::vector<double> first_ranks = ranks_of(on_host);
  const pagerank::DynamicRankResult finer = rank_by_differences(on_host, graph, 0);
  std::vector<pagerank::DynamicRankResult> results;
  for (const auto fusion : {automatic, none, push_pull, all}) {
    SCOPED_TRACE("fusion " + std::to_string(static_cast<int>(fusion)));
    pagerank::DynamicRanks ranks(gpu, graph, equal_ranks(graph), options);
    results.push_back(rank_by_differences(ranks, graph, frontier_tolerance, fusion));
    expect_same_work(results.back(), expected);
    EXPECT_EQ(ranks_of(ranks), first_ranks);
    expect_same_work(rank_by_differences(ranks, graph, 0, fusion), finer);  // with the remaining differences
    EXPECT_EQ(ranks_of(ranks), ranks_of(on_host));
  }
  const pagerank::DynamicRankResult &alone = results[1], &phases = results[2], &together = results[3];
  EXPECT_GE(alone.kernel_launches, 2 * alone.iterations);
  EXPECT_LE(phases.kernel_launches, alone.kernel_launches);
  EXPECT_LE(together.kernel_launches, phases.kernel_launches);
  EXPECT_GT(phases.push_registers, 0u);
  EXPECT_GE(together.push_registers, phases.pull_registers);
  EXPECT_EQ(together.push_registers, together.pull_registers);
}

TEST(GpuPageRank, PullsAndPushesInPhasesOnHardGraphs) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (auto& [name, graph] : rank_graphs()) {
    if (brief() && graph.vertices() > 12 && name != "kronecker") continue;
    SCOPED_TRACE(name);
    const Graph both = with_in_edges(std::move(graph));
    for (const pagerank::Options& options : rank_options())
      if (options.precision == pagerank::RankPrecision::f64) expect_phases(*gpu, both, options, 1e-6);
  }
}

TEST(GpuPageRank, EndsPhasesWhereTheHostDoes) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = with_in_edges(rank_rmat(false, false));
  for (const std::uint32_t iterations : {1u, 2u, 3u, 7u, 64u, 2000u})
    expect_phases(*gpu, graph, {.tolerance = 0, .max_iterations = iterations}, 0);
}

/// A phase includes its pushes and the list after them; or one launch makes all phases, one the remaining
/// list.
TEST(GpuPageRank, LaunchesPhasesTogether) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const io::GraphKind kind : {io::GraphKind::kronecker, io::GraphKind::grid}) {
    const Graph graph = generated(kind, brief() ? 10 : 16, true, io::WeightRule::uniform);
    expect_phases(*gpu, graph, {}, 1e-6);
    const auto launches = [&](pagerank::RoundFusion fusion) {
      pagerank::DynamicRanks ranks(*gpu, graph, equal_ranks(graph), {});
      return rank_by_differences(ranks, graph, 1e-6, fusion).kernel_launches;
    };
    const std::uint32_t alone = launches(pagerank::RoundFusion::none);
    EXPECT_LT(3 * launches(pagerank::RoundFusion::push_pull), alone);
    EXPECT_LE(launches(pagerank::RoundFusion::all), 2u);
  }
}

}  // namespace
}  // namespace sluice::test
