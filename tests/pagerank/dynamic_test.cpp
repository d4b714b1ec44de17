// Dynamic PageRank compared with static PageRank run to 1e-14, batch after batch.
#include "engine/pagerank/dynamic/dynamic.hpp"

#include <gtest/gtest.h>

#include <random>

#include "apps/bench/generated_graph.hpp"
#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/oracle.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

using stat::Edge;
using stat::make_graph;

constexpr pagerank::RankMethod kMethods[] = {
    pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
    pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
    pagerank::RankMethod::residual_frontier};

Graph generated(io::GraphKind kind, unsigned scale, bool undirected) {
  io::ConvertOptions rules;
  rules.undirected = undirected;
  rules.weights = io::WeightRule::uniform;
  rules.compact = false;
  return with_in_edges(bench::generate_graph({kind, scale}, rules));
}

using Rules = std::tuple<pagerank::Dangling, bool>;

class DynamicPageRank : public testing::TestWithParam<Rules> {
 protected:
  pagerank::Options options() const {
    pagerank::Options options;
    options.dangling = std::get<0>(GetParam());
    options.weighted = std::get<1>(GetParam());
    return options;
  }

  /// Follows `batches`. After each, the error is at most `limit` times that of static PageRank, or 1e-9.
  void expect_follows(Graph graph, const pagerank::DynamicRankOptions& dynamic, double limit,
                      std::size_t batch_size, int batches) {
    const Device device({DeviceChoice::host, 2, 0});
    std::mt19937_64 random(17);
    pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(device, graph, options()).ranks.span(),
                                 options());
    for (int i = 0; i < batches; ++i) {
      SCOPED_TRACE("batch " + std::to_string(i));
      const UpdateBatch batch = random_batch(random, graph, batch_size, i % 3 == 1 ? 2 : 0);
      UpdateResult update = update_graph(std::move(graph), batch, 2);
      graph = std::move(update.graph);

      const pagerank::DynamicRankResult result = ranks.follow(graph, update.changes, dynamic);

      EXPECT_EQ(result.end, pagerank::RankEnd::converged);
      EXPECT_EQ(result.history.size(), result.iterations);
      EXPECT_LE(result.initially_affected, result.ever_affected);
      const auto exact = exact_ranks(device, graph, options());
      const RankError error = error_of(ranks_of(ranks), exact);
      const RankError of_static =
          error_of(pagerank::run_pagerank(device, graph, options()).ranks.span(), exact);
      EXPECT_LE(error.linf, std::max(of_static.linf, 1e-9) * limit);
      if (options().dangling == pagerank::Dangling::uniform) {
        EXPECT_LT(error.sum, 1e-12);
      }
    }
  }
};

struct Named {
  std::string name;
  Graph graph;
};

std::vector<Named> graphs() {
  std::vector<Named> all;
  const auto add = [&](std::string name, std::uint64_t n, std::vector<Edge> edges, bool directed = true) {
    all.push_back({std::move(name), with_in_edges(make_graph(n, std::move(edges), true, directed))});
  };
  add("one vertex", 1, {});
  add("without edges", 7, {});
  add("all dangling but one", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4, 3}});
  add("loops", 4, {{0, 0, 2}, {0, 1}, {1, 2}, {2, 2}, {2, 0, 5}, {3, 3}});
  add("parallel edges", 3, {{0, 1, 2}, {0, 1, 3}, {0, 2}, {1, 0}, {2, 2}, {2, 2, 4}, {2, 1}});
  add("components", 9, {{0, 1}, {1, 0}, {2, 3}, {3, 4}, {4, 2}, {5, 6}});
  add("weights of zero", 5, {{0, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 3}, {3, 3, 0}, {4, 4, 0}, {4, 0, 1}});
  add("undirected star", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}, false);
  return all;
}

TEST_P(DynamicPageRank, FollowsSmallHardGraphsWithoutTolerances) {
  for (const pagerank::RankMethod method : kMethods) {
    for (auto& [name, graph] : graphs()) {
      SCOPED_TRACE(name + ", method " + std::to_string(static_cast<int>(method)));
      // Thresholds are 0 and only unchanged vertices are pruned, so frontier methods are exact, too.
      expect_follows(std::move(graph), {method, 0, 0}, 1, 2, 12);
    }
  }
}

TEST_P(DynamicPageRank, FollowsGeneratedGraphsOfEveryBatchSize) {
  for (const pagerank::RankMethod method :
       {pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal}) {
    for (const std::size_t size : {0u, 1u, 10u, 300u}) {
      SCOPED_TRACE("batches of " + std::to_string(size) + ", method " +
                   std::to_string(static_cast<int>(method)));
      expect_follows(generated(io::GraphKind::rmat, 10, false), {method}, 1, size, 3);
      expect_follows(generated(io::GraphKind::kronecker, 10, true), {method}, 1, size, 3);
      expect_follows(generated(io::GraphKind::grid, 10, true), {method}, 1, size, 3);
    }
  }
}

TEST_P(DynamicPageRank, FrontiersStayWithinTheirTolerance) {
  for (const pagerank::RankMethod method :
       {pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
        pagerank::RankMethod::residual_frontier}) {
    for (const std::size_t size : {1u, 10u, 300u}) {
      SCOPED_TRACE("batches of " + std::to_string(size) + ", method " +
                   std::to_string(static_cast<int>(method)));
      // Ranks are up to 1e-2 here; a frontier may miss up to 1e-6 of them in every batch.
      expect_follows(generated(io::GraphKind::rmat, 10, false), {method}, 100, size, 5);
      expect_follows(generated(io::GraphKind::kronecker, 10, true), {method}, 100, size, 5);
      expect_follows(generated(io::GraphKind::grid, 10, true), {method}, 100, size, 5);
    }
  }
}

/// Reaches static ranks from equal ranks, within the tolerance t: t d / (1 - d) in L1.
TEST_P(DynamicPageRank, RanksByDifferencesFromAllVertices) {
  constexpr double kTolerances[] = {0, 1e-9, 1e-4};
  const Device device({DeviceChoice::host, 2, 0});
  for (const io::GraphKind kind : {io::GraphKind::kronecker, io::GraphKind::rmat, io::GraphKind::grid}) {
    const Graph graph = generated(kind, 10, kind != io::GraphKind::rmat);
    const auto exact = exact_ranks(device, graph, options());
    for (const double tolerance : kTolerances) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " to " + std::to_string(tolerance));
      pagerank::Options finest = options();
      finest.tolerance = 1e-12;
      pagerank::DynamicRanks ranks(device, graph, equal_ranks(graph), finest);

      const pagerank::DynamicRankResult result = rank_by_differences(ranks, graph, tolerance);

      EXPECT_EQ(result.end, pagerank::RankEnd::converged);
      EXPECT_EQ(result.initially_affected, graph.vertices());
      EXPECT_EQ(result.ever_affected, graph.vertices());
      EXPECT_LT(error_of(ranks_of(ranks), exact).l1, tolerance * 0.85 / 0.15 + 1e-8);
      if (tolerance > 1e-5) {
        EXPECT_LT(result.affected.back(), graph.vertices());  // rounds that push
      }
    }
  }
}

TEST(DynamicPageRank, HasPhasesOnlyFromAllVerticesOfAGpu) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = generated(io::GraphKind::grid, 6, true);
  pagerank::DynamicRanks ranks(device, graph, equal_ranks(graph), {});
  for (const auto fusion : {pagerank::RoundFusion::push_pull, pagerank::RoundFusion::all})
    EXPECT_THROW(rank_by_differences(ranks, graph, 0, fusion), UsageError);
}

TEST_P(DynamicPageRank, HasTheSameBitsForAnyThreads) {
  for (const pagerank::RankMethod method : kMethods) {
    std::vector<double> first;
    std::vector<std::uint64_t> first_affected;
    for (const unsigned threads : {1u, 2u, 5u}) {
      const Device device({DeviceChoice::host, threads, 0});
      Graph graph = generated(io::GraphKind::rmat, 12, false);
      std::mt19937_64 random(3);
      pagerank::DynamicRanks ranks(device, graph,
                                   pagerank::run_pagerank(device, graph, options()).ranks.span(), options());
      std::vector<std::uint64_t> affected;
      for (int i = 0; i < 3; ++i) {
        const UpdateBatch batch = random_batch(random, graph, 20, 1);
        UpdateResult update = update_graph(std::move(graph), batch, threads);
        graph = std::move(update.graph);
        const pagerank::DynamicRankResult result = ranks.follow(graph, update.changes, {method});
        affected.insert(affected.end(), result.affected.begin(), result.affected.end());
        affected.push_back(result.gathered_edges);
      }
      if (first.empty()) first = ranks_of(ranks), first_affected = affected;
      EXPECT_EQ(ranks_of(ranks), first);
      EXPECT_EQ(affected, first_affected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, DynamicPageRank,
                         testing::Combine(testing::Values(pagerank::Dangling::uniform,
                                                          pagerank::Dangling::self_loop),
                                          testing::Bool()));

/// 0 -> 1 -> 2 -> 3 and 4 -> 5 -> 4.
Graph two_parts() {
  return with_in_edges(make_graph(6, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 4}}, false, true));
}

pagerank::DynamicRankResult follow(pagerank::RankMethod method, const UpdateBatch& batch,
                                   pagerank::Dangling dangling = pagerank::Dangling::uniform) {
  const Device device({DeviceChoice::host, 1, 0});
  pagerank::Options options;
  options.dangling = dangling;
  Graph graph = two_parts();
  pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(device, graph, options).ranks.span(),
                               options);
  const UpdateResult update = update_graph(std::move(graph), batch, 1);
  return ranks.follow(update.graph, update.changes, {method});
}

UpdateBatch batch_of(EdgeColumns insertions, EdgeColumns deletions) {
  return {std::move(insertions), std::move(deletions), {}};
}

TEST(DynamicPageRank, MarksTargetsOfDeletionsAndNeighboursOfSources) {
  // Deletes 1 -> 2 and inserts 1 -> 0, which marks 2 and 0.
  const UpdateBatch batch = batch_of({{1}, {0}, {}, {}}, {{1}, {2}, {}, {}});

  EXPECT_EQ(follow(pagerank::RankMethod::dynamic_frontier, batch).initially_affected, 2u);
  // Vertex 1 is marked, too, since its self-loop has a share by degree; the others are reached from there.
  EXPECT_EQ(
      follow(pagerank::RankMethod::dynamic_frontier, batch, pagerank::Dangling::self_loop).initially_affected,
      3u);
  EXPECT_EQ(follow(pagerank::RankMethod::dynamic_traversal, batch).initially_affected, 4u);
  EXPECT_EQ(follow(pagerank::RankMethod::naive_dynamic, batch).initially_affected, 6u);
}

TEST(DynamicPageRank, DoesNothingForBatchesThatChangeNothing) {
  const UpdateBatch idle = batch_of({{0}, {1}, {}, {}}, {{0, 3}, {2, 9}, {}, {}});

  for (const pagerank::RankMethod method :
       {pagerank::RankMethod::dynamic_traversal, pagerank::RankMethod::dynamic_frontier,
        pagerank::RankMethod::pruned_frontier, pagerank::RankMethod::residual_frontier}) {
    for (const UpdateBatch& batch : {UpdateBatch{}, idle}) {
      const pagerank::DynamicRankResult result = follow(method, batch);
      EXPECT_EQ(result.iterations, 0u);
      EXPECT_EQ(result.ever_affected, 0u);
      EXPECT_EQ(result.end, pagerank::RankEnd::converged);
    }
  }
  EXPECT_GE(follow(pagerank::RankMethod::naive_dynamic, {}).iterations, 1u);
}

TEST(DynamicPageRank, PruningAffectsAllWhereMostEdgesCarryChangesOrAsPublished) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph first = generated(io::GraphKind::kronecker, 10, true);
  const pagerank::Result before = pagerank::run_pagerank(device, first);
  for (const bool affect_all : {true, false}) {
    SCOPED_TRACE(affect_all);
    std::mt19937_64 random(41);
    Graph graph = generated(io::GraphKind::kronecker, 10, true);
    const UpdateBatch batch = random_batch(random, graph, 200, 0);
    const UpdateResult update = update_graph(std::move(graph), batch, 2);
    pagerank::DynamicRanks ranks(device, first, before.ranks.span(), {});
    const auto result =
        ranks.follow(update.graph, update.changes,
                     {.method = pagerank::RankMethod::pruned_frontier, .affect_all = affect_all});

    EXPECT_EQ(result.end, pagerank::RankEnd::converged);
    EXPECT_LE(error_of(ranks_of(ranks), exact_ranks(device, update.graph, {})).linf, 1e-7);
    const auto all = std::count(result.affected.begin(), result.affected.end(), update.graph.vertices());
    EXPECT_EQ(all >= 3, affect_all);
    EXPECT_EQ(result.widened_iterations >= 3, affect_all);
    if (!affect_all) {
      EXPECT_EQ(result.widened_iterations, 0u);
      EXPECT_LT(result.ever_affected, update.graph.vertices());
    }
  }
}

TEST(DynamicPageRank, LeavesFarVerticesAlone) {
  const UpdateBatch batch = batch_of({}, {{0}, {1}, {}, {}});

  EXPECT_EQ(follow(pagerank::RankMethod::dynamic_frontier, batch).ever_affected, 3u);
  EXPECT_EQ(follow(pagerank::RankMethod::dynamic_traversal, batch).ever_affected, 3u);
}

TEST(DynamicPageRank, CanChangeItsMethodFromBatchToBatch) {
  const Device device({DeviceChoice::host, 2, 0});
  std::mt19937_64 random(41);
  Graph graph = generated(io::GraphKind::rmat, 10, false);
  pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(device, graph).ranks.span(), {});
  for (int i = 0; i < 15; ++i) {
    SCOPED_TRACE(i);
    const UpdateBatch batch = random_batch(random, graph, 5, i % 4 == 3 ? 1 : 0);
    UpdateResult update = update_graph(std::move(graph), batch, 2);
    graph = std::move(update.graph);

    ranks.follow(graph, update.changes, {kMethods[random() % std::size(kMethods)], 0, 0});

    EXPECT_LE(error_of(ranks_of(ranks), exact_ranks(device, graph, {})).linf, 1e-9);
  }
}

TEST(DynamicPageRank, BoundsWhatResidualsLeaveOutAfterManyBatches) {
  const Device device({DeviceChoice::host, 2, 0});
  std::mt19937_64 random(43);
  Graph graph = generated(io::GraphKind::kronecker, 10, true);
  pagerank::DynamicRanks ranks(device, graph, pagerank::run_pagerank(device, graph).ranks.span(), {});
  constexpr double kTolerance = 1e-4;
  for (int i = 0; i < 60; ++i) {
    const UpdateBatch batch = random_batch(random, graph, 3, 0);
    UpdateResult update = update_graph(std::move(graph), batch, 2);
    graph = std::move(update.graph);
    ranks.follow(graph, update.changes, {pagerank::RankMethod::residual_frontier, kTolerance});
  }
  EXPECT_LE(error_of(ranks_of(ranks), exact_ranks(device, graph, {})).l1, kTolerance * 0.85 / 0.15);
}

TEST(DynamicPageRank, SaysWhereIterationsEnd) {
  const Device device({DeviceChoice::host, 1, 0});
  pagerank::Options options;
  options.max_iterations = 2;
  options.tolerance = 0;
  Graph graph = two_parts();
  pagerank::DynamicRanks ranks(device, graph, std::vector<double>(6, 1.0 / 6), options);

  const pagerank::DynamicRankResult result = ranks.follow(graph, {}, {pagerank::RankMethod::naive_dynamic});

  EXPECT_EQ(result.end, pagerank::RankEnd::limit);
  EXPECT_EQ(result.iterations, 2u);
}

TEST(DynamicPageRank, RefusesWhatItCannotFollow) {
  const Device device({DeviceChoice::host, 1, 0});
  Graph graph = two_parts();
  const std::vector<double> ranks(6, 1.0 / 6);
  pagerank::Options single;
  single.precision = pagerank::RankPrecision::f32;
  EXPECT_THROW(pagerank::DynamicRanks(device, graph, ranks, single), UsageError);
  pagerank::Options weighted;
  weighted.weighted = true;
  EXPECT_THROW(pagerank::DynamicRanks(device, graph, ranks, weighted), UsageError);
  EXPECT_THROW(pagerank::DynamicRanks(device, graph, std::vector<double>(5, 0.1), {}), InputError);
  EXPECT_THROW(pagerank::DynamicRanks(device, graph, std::vector<double>(6, 0.5), {}), InputError);
  EXPECT_THROW(pagerank::DynamicRanks(device, graph, {{0.1, -0.1, 0.1, 0.1, 0.1, 0.1}}, {}), InputError);

  pagerank::DynamicRanks good(device, graph, ranks, {});
  EXPECT_THROW(good.follow(graph, {}, {pagerank::RankMethod::from_scratch}), UsageError);
  EXPECT_THROW(good.follow(graph, {}, {pagerank::RankMethod::pruned_frontier, -1, 0}), UsageError);
  graph.in = {};
  EXPECT_THROW(good.follow(graph, {}, {pagerank::RankMethod::naive_dynamic}), UsageError);
}

}  // namespace
}  // namespace sluice::test
