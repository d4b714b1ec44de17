// Dynamic PageRank with in-edges in partitions gives the ranks of the whole graph, bit for bit, and brings no
// partition needlessly.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "engine/core/error.hpp"
#include "engine/pagerank/dynamic/dynamic.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

constexpr pagerank::RankMethod kMethods[] = {
    pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
    pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
    pagerank::RankMethod::residual_frontier};

/// Follows the same batches whole and in partitions, with methods that change from batch to batch.
void expect_same_bits(Graph graph, const pagerank::Options& options, const PagingOptions& paging,
                      std::size_t first_method) {
  const Device device({DeviceChoice::host, 2, 0});
  const pagerank::Result start = pagerank::run_pagerank(device, graph, options);
  pagerank::DynamicRanks whole(device, graph, start.ranks.span(), options);
  pagerank::DynamicRanks parts(device, graph, start.ranks.span(), options, {.paging = paging});
  std::mt19937_64 random(29);
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE("batch " + std::to_string(i));
    const UpdateBatch batch = random_batch(random, graph, 4, i == 1 ? 3 : 0);
    UpdateResult update = update_graph(std::move(graph), batch, 2);
    graph = std::move(update.graph);
    const pagerank::RankMethod method = kMethods[(first_method + (i == 2 ? 1 : 0)) % std::size(kMethods)];

    const pagerank::DynamicRankResult expected = whole.follow(graph, update.changes, {method, 1e-4, 1e-4});
    const pagerank::DynamicRankResult result = parts.follow(graph, update.changes, {method, 1e-4, 1e-4});

    EXPECT_EQ(ranks_of(parts), ranks_of(whole));
    expect_same_work(result, expected);
    EXPECT_LE(result.partitions_read, result.traffic.partitions);
  }
}

TEST(DynamicPartitions, ChangeNoBit) {
  for (std::size_t method = 0; method < std::size(kMethods); ++method) {
    for (const bool undirected : {false, true}) {
      pagerank::Options options;
      options.dangling =
          undirected == (method % 2 == 0) ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
      options.weighted = !undirected;
      options.tolerance = 1e-7;
      const auto pagings =
          undirected ? std::array{PagingOptions{.partitions = 7, .slots = 3},
                                  PagingOptions{.partitions = 64, .transport = Transport::mapped}}
                     : std::array{PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
                                  PagingOptions{.partitions = 64, .slots = 5}};
      for (const PagingOptions& paging : pagings) {
        SCOPED_TRACE("method " + std::to_string(method) + ", partitions " +
                     std::to_string(paging.partitions));
        expect_same_bits(rank_rmat(undirected, !undirected), options, paging, method);
      }
    }
  }
}

TEST(DynamicPartitions, OfHardGraphsToo) {
  for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
    pagerank::Options options;
    options.dangling = dangling;
    options.weighted = true;
    for (std::size_t method = 0; method < std::size(kMethods); ++method) {
      for (auto& [name, graph] : rank_graphs()) {
        if (graph.vertices() > 100 || name == "extreme weights") continue;
        SCOPED_TRACE(name + ", method " + std::to_string(method));
        expect_same_bits(with_in_edges(std::move(graph)), options, {.partitions = 3, .slots = 2}, method);
      }
    }
  }
}

/// Follows the deletion of one edge in the corner of a large grid.
pagerank::DynamicRankResult follow_corner(pagerank::RankMethod method, const PagingOptions& paging) {
  const Device device({DeviceChoice::host, 2, 0});
  Graph graph = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
  pagerank::Options options;
  options.tolerance = 1e-8;
  pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(device, graph, options).ranks.span(),
                               options, {.paging = paging});
  UpdateBatch batch;
  batch.deletions = {{0}, {1}, {}, {}};
  const UpdateResult update = update_graph(std::move(graph), batch, 2);
  return ranks.follow(update.graph, update.changes, {method, 1e-3, 1e-3});
}

TEST(DynamicPartitions, StayAwayWithoutAffectedVertices) {
  for (const Transport transport : {Transport::copied, Transport::mapped}) {
    for (const pagerank::RankMethod method : kMethods) {
      const pagerank::DynamicRankResult result =
          follow_corner(method, {.partitions = 32, .slots = 4, .transport = transport});

      EXPECT_EQ(result.traffic.partitions, 32u);
      const bool everywhere =
          method == pagerank::RankMethod::naive_dynamic || method == pagerank::RankMethod::dynamic_traversal;
      EXPECT_EQ(result.partitions_read == 32, everywhere) << static_cast<int>(method);
      EXPECT_GE(result.partitions_read, 1u);
      if (transport == Transport::mapped) {
        EXPECT_EQ(result.traffic.partition_transfers, 0u);
      } else if (!everywhere) {
        // Slots hold all affected partitions, and keep them between iterations.
        EXPECT_EQ(result.traffic.partition_transfers, result.partitions_read);
      }
    }
  }
}

TEST(DynamicPartitions, StayWithinTheDeviceMemory) {
  Graph graph = rank_rmat(true, false);
  const std::uint64_t state = graph.vertices() * 16, edges = graph.edges() * sizeof(Vertex);
  const Device ample({DeviceChoice::host, 2, 0}),
      tight({DeviceChoice::host, 2, state + edges / 3 + (80u << 10)});
  const pagerank::Result start = pagerank::run_pagerank(ample, graph);
  pagerank::DynamicRanks whole(ample, graph, start.ranks.span(), {}),
      parts(tight, graph, start.ranks.span(), {});
  std::mt19937_64 random(31);
  const UpdateBatch batch = random_batch(random, graph, 10, 0);
  const UpdateResult update = update_graph(std::move(graph), batch, 2);

  whole.follow(update.graph, update.changes, {pagerank::RankMethod::naive_dynamic});
  const pagerank::DynamicRankResult result =
      parts.follow(update.graph, update.changes, {pagerank::RankMethod::naive_dynamic});

  EXPECT_EQ(ranks_of(parts), ranks_of(whole));
  EXPECT_GT(result.traffic.partitions, 3u);
  EXPECT_LE(tight.memory().peak(), tight.memory().ceiling());
}

TEST(DynamicPartitions, AreRefusedWhereTheyCannotBe) {
  const Graph graph = rank_rmat(true, false);
  const Device device({DeviceChoice::host, 1, 0}),
      tiny({DeviceChoice::host, 1, graph.vertices() * 16 + (70u << 10)});
  const auto start = pagerank::run_pagerank(device, graph);
  pagerank::DynamicRanks too_small(tiny, graph, start.ranks.span(), {}, {.paging = {.partitions = 2}});

  EXPECT_THROW(pagerank::DynamicRanks(device, graph, start.ranks.span(), {},
                                      {.paging = {.transport = Transport::file}}),
               UsageError);
  EXPECT_THROW(too_small.follow(graph, {}, {pagerank::RankMethod::naive_dynamic}), BudgetError);
}

}  // namespace
}  // namespace sluice::test
