// Dynamic PageRank on a GPU gives the host's ranks, iterations and frontiers after every batch, bit for bit.
#include "engine/pagerank/dynamic/dynamic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "apps/bench/replay/replay.hpp"
#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/cases.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

constexpr pagerank::RankMethod kMethods[] = {
    pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
    pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
    pagerank::RankMethod::residual_frontier};

/// Both dangling rules and all norms, weighted and not; under a sanitizer half of them.
std::vector<pagerank::Options> options_to_follow(pagerank::RankMethod method) {
  std::vector<pagerank::Options> all(4);
  all[1].dangling = all[3].dangling = pagerank::Dangling::self_loop;
  all[2].weighted = all[3].weighted = true;
  all[1].norm = pagerank::RankNorm::l1;
  all[2].norm = pagerank::RankNorm::l2;
  if (!brief()) return all;
  for (pagerank::Options& options : all) options.max_iterations = 3;
  const auto first = static_cast<std::size_t>(method) % 2;
  return {all[first], all[first + 2]};
}

/// Ranks of one graph on the host and on the GPU, updated by the same batches.
class OnBoth {
 public:
  OnBoth(const Device& gpu, const Graph& graph, const pagerank::Options& options,
         const PagingOptions& paging = {})
      : first_(pagerank::run_pagerank(host_, graph, options)),
        on_host_(host_, graph, first_.ranks.span(), options),
        on_gpu_(gpu, graph, first_.ranks.span(), options, {.paging = paging}) {}

  pagerank::DynamicRankResult follow(const UpdateResult& update,
                                     const pagerank::DynamicRankOptions& dynamic) {
    pagerank::DynamicRankOptions on_host = dynamic;
    on_host.split = pagerank::RankSplit::in_out;
    const pagerank::DynamicRankResult expected = on_host_.follow(update.graph, update.changes, on_host);
    pagerank::DynamicRankResult result = on_gpu_.follow(update.graph, update.changes, dynamic);
    expect_same_work(result, expected);
    EXPECT_EQ(ranks_of(on_gpu_), ranks_of(on_host_));
    return result;
  }

 private:
  const Device host_{{DeviceChoice::host, 2, 0}};
  pagerank::Result first_;
  pagerank::DynamicRanks on_host_, on_gpu_;
};

/// Batches of insertions and deletions: some add vertices, one is empty.
void expect_follows(const Device& gpu, Graph graph, const pagerank::Options& options,
                    const pagerank::DynamicRankOptions& dynamic, std::size_t size, int batches,
                    const PagingOptions& paging = {}) {
  std::mt19937_64 random(29);
  OnBoth both(gpu, graph, options, paging);
  if (brief()) batches = 2;
  for (int i = 0; i < batches && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("batch " + std::to_string(i) + " of " + std::to_string(size) + ", method " +
                 std::to_string(static_cast<int>(dynamic.method)));
    const UpdateBatch batch = i == 2 ? UpdateBatch{} : random_batch(random, graph, size, i % 3 == 1 ? 2 : 0);
    UpdateResult update = update_graph(std::move(graph), batch, 2);
    both.follow(update, dynamic);
    graph = std::move(update.graph);
  }
}

/// Every method with small batches on hard graphs; under a sanitizer on few of them.
void expect_follows_hard_graphs(const Device& gpu, int batches, const PagingOptions& paging = {}) {
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : options_to_follow(method)) {
      std::size_t i = 0;
      for (auto& [name, graph] : rank_graphs()) {
        if (brief() && i++ % 5 != static_cast<std::size_t>(method) % 5) continue;
        SCOPED_TRACE(name);
        expect_follows(gpu, with_in_edges(std::move(graph)), options, {method}, 3, batches, paging);
      }
    }
  }
}

/// Two hubs with far more neighbours than a warp processes, and vertices with some hundred neighbours.
Graph hubs(bool directed) {
  std::vector<stat::Edge> edges;
  const auto add = [&](Vertex u, Vertex v) {
    edges.push_back({u, v, static_cast<float>(1 + (u + v) % 5)});
    if (!directed) edges.push_back({v, u, static_cast<float>(1 + (u + v) % 5)});
  };
  constexpr Vertex kLeaves = 6000;
  for (Vertex v = 2; v < kLeaves; ++v) {
    add(0, v);
    if (directed) add(v, v % 3 == 0 ? 0 : 1);
    if (!directed && v % 2 == 0) add(1, v);
    if (v % 50 != 7 && v > 60) add(v, 7 + v % 50);
  }
  return with_in_edges(stat::make_graph(kLeaves, std::move(edges), true, directed));
}

TEST(GpuDynamicPageRank, IsThatOfTheHostOnHardGraphs) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_follows_hard_graphs(*gpu, 4);
}

TEST(GpuDynamicPageRank, FollowsBatchesOfEverySize) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  constexpr auto uniform = io::WeightRule::uniform;
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : options_to_follow(method)) {
      for (const std::size_t size : {1u, 30u, 2000u}) {
        if (brief() && size != 30) continue;
        const auto rmat = [] { return with_in_edges(generated(io::GraphKind::rmat, 12, false, uniform)); };
        expect_follows(*gpu, rmat(), options, {method}, size, 5);
        expect_follows(*gpu, rmat(), options, {method, 0, 0}, size, 2);
        expect_follows(*gpu, generated(io::GraphKind::grid, 12, true, uniform), options, {method}, size, 5);
      }
    }
  }
}

TEST(GpuDynamicPageRank, MakesSmallIterationsTogether) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  constexpr auto uniform = io::WeightRule::uniform;
  // Cases: convergence within one launch, the iteration limit in the second launch, a stall after many
  // launches.
  std::vector<pagerank::Options> all(3);
  all[0].dangling = pagerank::Dangling::self_loop;
  all[1].max_iterations = 40;
  all[1].tolerance = 1e-14;
  all[2].dangling = pagerank::Dangling::self_loop;
  all[2].norm = pagerank::RankNorm::l2;
  all[2].tolerance = 0;
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : all) {
      if (brief() && (options.tolerance == 0 || method == pagerank::RankMethod::naive_dynamic)) continue;
      for (const bool together : {true, false}) {
        if (brief() && !together) continue;
        pagerank::DynamicRankOptions dynamic{method};
        if (!together) dynamic.fusion = pagerank::RoundFusion::none;
        if (options.tolerance < 1e-12) dynamic.frontier_tolerance = dynamic.prune_tolerance = 1e-12;
        const unsigned scale = brief() ? 12 : 16;
        expect_follows(*gpu, generated(io::GraphKind::grid, scale, true, uniform), options, dynamic, 3, 3);
      }
    }
  }
}

TEST(GpuDynamicPageRank, CutsHubsAmongBlocks) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : options_to_follow(method)) {
      expect_follows(*gpu, hubs(true), options, {method}, 5, 4);
      expect_follows(*gpu, hubs(false), options, {method}, 5, 4);
    }
  }
}

/// The method changes from batch to batch.
void expect_follows_by_turns(const Device& gpu, int batches, const PagingOptions& paging) {
  std::mt19937_64 random(41);
  Graph graph = with_in_edges(generated(io::GraphKind::rmat, 11, false, io::WeightRule::uniform));
  pagerank::Options options;
  if (brief()) options.max_iterations = 3, batches = 6;
  OnBoth both(gpu, graph, options, paging);
  for (int i = 0; i < batches; ++i) {
    SCOPED_TRACE(i);
    const UpdateBatch batch = random_batch(random, graph, 5, i % 6 == 3 ? 1 : 0);
    UpdateResult update = update_graph(std::move(graph), batch, 2);
    // Every other batch uses residuals: waiting residuals are used by the next such batch or discarded.
    both.follow(update, {i % 2 == 0 ? pagerank::RankMethod::residual_frontier : kMethods[random() % 5]});
    graph = std::move(update.graph);
  }
}

TEST(GpuDynamicPageRank, CanChangeItsMethodFromBatchToBatch) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_follows_by_turns(*gpu, 40, {});
}

TEST(GpuDynamicPageRank, StopsAfterTheIterationsThatWereAllowed) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  pagerank::Options options;
  options.max_iterations = 3;
  for (const pagerank::RankMethod method : kMethods) {
    Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::uniform);
    OnBoth both(*gpu, graph, options);
    std::mt19937_64 random(5);
    for (int i = 0; i < 3; ++i) {
      UpdateResult update = update_graph(std::move(graph), random_batch(random, graph, 20, 0), 2);
      both.follow(update, {method});
      graph = std::move(update.graph);
    }
  }
}

TEST(GpuDynamicPageRank, ReplaysAsTheHostDoes) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  bench::TemporalEdges edges;
  edges.vertex_count = 3000;
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    edges.source.push_back(static_cast<Vertex>(random() % edges.vertex_count));
    edges.target.push_back(static_cast<Vertex>(random() % (1 + random() % edges.vertex_count)));
  }
  bench::ReplayOptions options;
  options.batches = 5;
  options.batch_fraction = 1e-3;
  const auto run = [&](const Device& device) {
    std::vector<bench::ReplayBatch> batches;
    bench::replay(device, edges, {}, options,
                  [&](const bench::ReplayBatch& batch) { batches.push_back(batch); });
    return batches;
  };
  const auto result = run(*gpu), expected = run(Device({DeviceChoice::host, 2, 0}));
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t b = 0; b < result.size(); ++b) {
    ASSERT_EQ(result[b].runs.size(), expected[b].runs.size());
    for (std::size_t m = 0; m < result[b].runs.size(); ++m) {
      EXPECT_EQ(result[b].runs[m].iterations, expected[b].runs[m].iterations);
      EXPECT_EQ(result[b].runs[m].ever_affected, expected[b].runs[m].ever_affected);
      EXPECT_EQ(result[b].runs[m].gathered_edges, expected[b].runs[m].gathered_edges);
      EXPECT_EQ(result[b].runs[m].linf, expected[b].runs[m].linf);
    }
  }
}

TEST(GpuDynamicPageRank, SplitsWorkInOtherWays) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  pagerank::Options options;
  if (brief()) options.max_iterations = 2;
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::RankSplit split : {pagerank::RankSplit::none, pagerank::RankSplit::in}) {
      // Under a sanitizer each way runs one method.
      if (brief() && method != (split == pagerank::RankSplit::in ? pagerank::RankMethod::pruned_frontier
                                                                 : pagerank::RankMethod::residual_frontier))
        continue;
      pagerank::DynamicRankOptions dynamic{method};
      dynamic.split = split;
      expect_follows(*gpu, hubs(true), options, dynamic, 5, 2);
      if (split == pagerank::RankSplit::none)
        expect_follows(*gpu, hubs(false), options, dynamic, 5, 2, {.partitions = 5, .slots = 2});
      else
        EXPECT_THROW(expect_follows(*gpu, hubs(false), options, dynamic, 5, 2, {.partitions = 5, .slots = 2}),
                     UsageError);
    }
  }
}

TEST(GpuDynamicPartitions, ChangeNoBitOnHardGraphs) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_follows_hard_graphs(*gpu, 2, {.partitions = 3, .slots = 2});
}

TEST(GpuDynamicPartitions, ChangeNoBitForBatchesOfEverySize) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  constexpr auto uniform = io::WeightRule::uniform;
  const PagingOptions pagings[] = {{.partitions = 7, .slots = 2, .transport = Transport::copied},
                                   {.partitions = 40, .slots = 17},
                                   {.partitions = 9, .transport = Transport::mapped},
                                   {.transport = Transport::copied}};
  std::size_t i = 0;
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : options_to_follow(method)) {
      for (const std::size_t size : {1u, 30u, 2000u}) {
        if (brief() && size != 30) continue;
        const PagingOptions& paging = pagings[i++ % std::size(pagings)];
        expect_follows(*gpu, with_in_edges(generated(io::GraphKind::rmat, 12, false, uniform)), options,
                       {method}, size, 3, paging);
        expect_follows(*gpu, generated(io::GraphKind::grid, 14, true, uniform), options, {method, 0, 0}, size,
                       2, paging);
      }
    }
  }
}

TEST(GpuDynamicPartitions, CutHubsAmongBlocks) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const pagerank::RankMethod method : kMethods) {
    for (const pagerank::Options& options : options_to_follow(method)) {
      expect_follows(*gpu, hubs(true), options, {method}, 5, 3, {.partitions = 5, .slots = 2});
      expect_follows(*gpu, hubs(false), options, {method}, 5, 3, {.partitions = 5, .slots = 2});
    }
  }
}

TEST(GpuDynamicPartitions, FollowMethodsThatChange) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  expect_follows_by_turns(*gpu, 20, {.partitions = 12, .slots = 4});
}

TEST(GpuDynamicPartitions, StayAwayWithoutAffectedVertices) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Device host({DeviceChoice::host, 2, 0});
  pagerank::Options options;
  options.tolerance = 1e-8;
  UpdateBatch batch;
  batch.deletions = {{0}, {1}, {}, {}};
  for (const Transport transport : {Transport::copied, Transport::mapped}) {
    for (const pagerank::RankMethod method : kMethods) {
      const auto follow_corner = [&](const Device& device) {
        Graph graph = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
        pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(host, graph, options).ranks.span(),
                                     options,
                                     {.paging = {.partitions = 32, .slots = 4, .transport = transport}});
        const UpdateResult update = update_graph(std::move(graph), batch, 2);
        return ranks.follow(update.graph, update.changes, {method, 1e-3, 1e-3});
      };
      const pagerank::DynamicRankResult result = follow_corner(*gpu), expected = follow_corner(host);

      EXPECT_EQ(result.partitions_read, expected.partitions_read) << static_cast<int>(method);
      EXPECT_EQ(result.traffic.partitions, expected.traffic.partitions);
      EXPECT_EQ(result.traffic.partition_transfers, expected.traffic.partition_transfers);
    }
  }
}

TEST(GpuDynamicPartitions, StayWithinTheDeviceMemory) {
  Graph graph = generated(io::GraphKind::rmat, 16, true, io::WeightRule::none);
  const std::uint64_t n = graph.vertices(), m = graph.edges();
  // Columns and lists of vertices, two staging buffers of 12 bytes an entry, a part of the in-edges,
  // counters.
  const std::uint64_t state = 100 * n + 2 * 12 * std::min<std::uint64_t>(m, 1u << 18) + (1u << 20);
  const auto tight = open_gpu(state + m * sizeof(Vertex) / 3);
  REQUIRE_GPU(tight);
  pagerank::Options options;
  if (brief()) options.max_iterations = 1;
  OnBoth both(*tight, graph, options);
  std::mt19937_64 random(31);
  const UpdateBatch batch = random_batch(random, graph, 10, 0);
  const UpdateResult update = update_graph(std::move(graph), batch, 2);

  const pagerank::DynamicRankResult result = both.follow(update, {pagerank::RankMethod::naive_dynamic});

  EXPECT_GT(result.traffic.partitions, 3u);
  EXPECT_LE(tight->memory().peak(), tight->memory().ceiling());
}

TEST(GpuDynamicPageRank, RefusesChangesOfAnotherGraph) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  const Graph graph = generated(io::GraphKind::ring, 8, true, io::WeightRule::none);
  pagerank::DynamicRanks ranks(*gpu, graph, std::vector<double>(256, 1.0 / 256), {});
  const EdgeChange change{0, 5, 0, 1};

  EXPECT_THROW(ranks.follow(graph, EdgeChanges({change}, {}), {}), InputError);
}

}  // namespace
}  // namespace sluice::test
