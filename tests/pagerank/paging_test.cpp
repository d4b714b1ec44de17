// In-edges in partitions, from memory and from the file, give the ranks of the whole graph, bit for bit.
#include <gtest/gtest.h>

#include "core/host_ceiling.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "pagerank/cases.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {
namespace {

TEST(PageRankPartitions, ChangeNoBit) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const bool undirected : {false, true}) {
    const Graph graph = rank_rmat(undirected, false);
    for (const pagerank::Options& options : rank_options()) {
      const pagerank::Result whole = pagerank::run_pagerank(device, graph, options);
      for (const PagingOptions& paging :
           {PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
            PagingOptions{.partitions = 7, .slots = 2}, PagingOptions{.partitions = 40, .slots = 3},
            PagingOptions{.partitions = 40, .slots = 17},
            PagingOptions{.partitions = 9, .transport = Transport::mapped}}) {
        const pagerank::Result parts = pagerank::run_pagerank(device, graph, options, {}, {.paging = paging});

        expect_same(parts, whole);
        EXPECT_LE(parts.traffic.partitions, paging.partitions);
        EXPECT_GT(parts.traffic.partitions, 1u);
      }
    }
  }
}

/// Lists are numbered or brought while others are still being read.
TEST(PageRankOfEdgesToCome, IsThatOfTheWholeGraph) {
  const Device device({DeviceChoice::host, 3, 0});
  for (const bool undirected : {false, true}) {
    const Graph graph = rank_rmat(undirected, false);
    const TemporaryFolder folder;
    const std::string path = folder / "graph.h5";
    io::write_graph(path, graph, false);
    for (const pagerank::Options& options : rank_options()) {
      const pagerank::Result whole = pagerank::run_pagerank(device, graph, options);
      using pagerank::RankPlace;
      for (const RankPlace& place : {RankPlace{}, RankPlace{.rows = pagerank::RankRows::listed},
                                     RankPlace{.paging = {.partitions = 7, .slots = 2}}}) {
        const Graph coming = io::begin_reading(path, {}, 3);

        const pagerank::Result late = pagerank::run_pagerank(device, coming, options, {}, place);

        expect_same(late, whole);
        EXPECT_TRUE(coming.pending_edges->complete());
      }
    }
  }
}

TEST(PageRankPartitions, MayHaveNoEdges) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const auto& [name, graph] : rank_graphs()) {
    if (graph.edges() > 0) continue;
    SCOPED_TRACE(name);
    for (const Transport transport : {Transport::automatic, Transport::copied, Transport::mapped}) {
      const PagingOptions paging{.partitions = 3, .slots = 2, .transport = transport};
      expect_same(pagerank::run_pagerank(device, graph, {}, {}, {.paging = paging}),
                  pagerank::run_pagerank(device, graph));
    }
  }
}

TEST(PageRankPartitions, ComeFromTheFileToo) {
  const Device device({DeviceChoice::host, 2, 0});
  const TemporaryFolder folder;
  for (const bool undirected : {false, true}) {
    io::write_graph(folder / "graph.h5", rank_rmat(undirected, !undirected), true);
    const Graph in_memory = io::read_graph(folder / "graph.h5", {.in = !undirected});
    const Graph in_file = io::open_graph(folder / "graph.h5", {.in = !undirected});
    for (const pagerank::Options& options : rank_options()) {
      const pagerank::Result parts =
          pagerank::run_pagerank(device, in_file, options, {}, {.paging = {.partitions = 6, .slots = 3}});

      expect_same(parts, pagerank::run_pagerank(device, in_memory, options));
      EXPECT_GT(parts.traffic.read_bytes, 0u);
    }
  }
}

TEST(PageRankPartitions, StayWithinTheDeviceMemory) {
  const Graph graph = rank_rmat(true, false);
  const std::uint64_t state = graph.vertices() * 24, edges = graph.edges() * sizeof(Vertex);
  const Device ample({DeviceChoice::host, 2, 0}),
      tight({DeviceChoice::host, 2, state + edges / 3 + (80u << 10)});

  const pagerank::Result parts = pagerank::run_pagerank(tight, graph);

  expect_same(parts, pagerank::run_pagerank(ample, graph));
  EXPECT_GT(parts.traffic.partitions, 3u);
  EXPECT_LE(tight.memory().peak(), tight.memory().ceiling());
}

/// On the host, slots have half of the memory beside ranks, both in a plan and in a run.
TEST(PageRankPartitions, AreAsManyAsThePlanSays) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::ring, 16, true, io::WeightRule::none);
  const pagerank::RankPlace place{.paging = {.transport = Transport::copied}};
  pagerank::Options options;
  options.max_iterations = 2;
  for (const std::uint64_t left : {400u << 10, 700u << 10}) {
    const HostCeiling ceiling(graph.vertices() * 40 + left);

    const pagerank::Plan plan = pagerank::plan_pagerank(device, graph, options, place);
    const pagerank::Result result = pagerank::run_pagerank(device, graph, options, {}, place);

    EXPECT_GT(result.traffic.partitions, 2u);
    EXPECT_NEAR(static_cast<double>(plan.partitions), static_cast<double>(result.traffic.partitions), 1);
  }
}

TEST(PageRankPartitions, BringWhatIsPinnedOnce) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = rank_rmat(true, false);
  pagerank::Options options;
  options.max_iterations = 10;
  options.tolerance = 0;

  const pagerank::Result all =
      pagerank::run_pagerank(device, graph, options, {}, {.paging = {.partitions = 8, .slots = 8}});
  const pagerank::Result some =
      pagerank::run_pagerank(device, graph, options, {}, {.paging = {.partitions = 8, .slots = 6}});

  EXPECT_EQ(all.traffic.partition_transfers, all.traffic.partitions);
  EXPECT_LT(some.traffic.partition_transfers, 10 * some.traffic.partitions);
  EXPECT_GT(some.traffic.partition_transfers, some.traffic.partitions);
}

TEST(PageRankPartitions, AreRefusedWhereTheyCannotBe) {
  const Graph graph = rank_rmat(true, false);
  const Device device({DeviceChoice::host, 1, 0}),
      tiny({DeviceChoice::host, 1, graph.vertices() * 24 + (70u << 10)});
  const TemporaryFolder folder;
  io::write_graph(folder / "graph.h5", rank_rmat(false, false), true);
  const Graph in_file = io::open_graph(folder / "graph.h5");

  EXPECT_THROW(pagerank::run_pagerank(tiny, graph, {}, {}, {.paging = {.partitions = 2}}), BudgetError);
  EXPECT_THROW(pagerank::run_pagerank(device, graph, {}, {}, {.paging = {.transport = Transport::file}}),
               UsageError);
  EXPECT_THROW(pagerank::run_pagerank(device, in_file), UsageError);  // the file has no in-edges
}

}  // namespace
}  // namespace sluice::test
