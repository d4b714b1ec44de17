// Dynamic PageRank on several ranks of a job: the ranks, iterations and frontiers of one process, bit for
// bit.
#include <gtest/gtest.h>

#include <random>

#include "engine/rank/dynamic.hpp"
#include "exchange/thread_ranks.hpp"
#include "rank/batch_support.hpp"
#include "rank/cases.hpp"

namespace sluice::test {
namespace {

constexpr RankMethod kMethods[] = {RankMethod::naive_dynamic, RankMethod::dynamic_traversal,
                                   RankMethod::dynamic_frontier, RankMethod::pruned_frontier,
                                   RankMethod::residual_frontier};

/// What following some batches came to: the same on every rank, and the ranks of its vertices.
struct Followed {
  std::vector<double> ranks;
  std::vector<DynamicRankResult> results;
};

/// A graph, and what it becomes.
struct Course {
  Graph before;
  std::vector<UpdateResult> batches;
};

Graph copy_of(const Graph& graph) {
  const auto copy = [](const auto& from, auto& to) {
    to = std::remove_reference_t<decltype(to)>(from.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  Graph same;
  for (const auto& [from, to] : {std::pair(&graph.out, &same.out), std::pair(&graph.in, &same.in)}) {
    copy(from->offsets, to->offsets), copy(from->targets, to->targets);
    copy(from->weights, to->weights);
  }
  same.directed = graph.directed, same.weighted = graph.weighted;
  return same;
}

Course course_of(Graph graph, std::size_t batch_size) {
  Course course;
  course.before = copy_of(graph);
  std::mt19937_64 random(37);
  for (std::size_t i = 0; i < 3; ++i) {
    const UpdateBatch batch =
        random_batch(random, graph, batch_size, graph.vertices() == 0 || i == 1 ? 3 : 0);
    course.batches.push_back(update_graph(std::move(graph), batch, 2));
    graph = copy_of(course.batches.back().graph);
  }
  return course;
}

Followed follow(const Course& course, const PageRankOptions& options, const PageRankResult& start,
                std::size_t first_method, const RankPlace& place) {
  const Device device({DeviceChoice::host, 2, 0});
  DynamicRanks ranks(device, course.before, start.ranks.span(), options, place);
  Followed followed;
  for (std::size_t i = 0; i < course.batches.size(); ++i) {
    const RankMethod method = kMethods[(first_method + (i == 2 ? 1 : 0)) % std::size(kMethods)];
    followed.results.push_back(
        ranks.follow(course.batches[i].graph, course.batches[i].changes, {method, 1e-4, 1e-4}));
  }
  followed.ranks.resize(ranks.own());
  ranks.read_ranks(followed.ranks);
  followed.ranks.insert(followed.ranks.begin(), ranks.first(), 0.0);  // at their places
  return followed;
}

void expect_same(const Followed& on_rank, const Followed& alone, std::vector<double>& ranks) {
  for (std::size_t i = 0; i < alone.results.size(); ++i) {
    expect_same_work(on_rank.results[i], alone.results[i]);
  }
  for (std::size_t v = 0; v < on_rank.ranks.size(); ++v)
    if (on_rank.ranks[v] != 0) ranks[v] = on_rank.ranks[v];
}

void expect_as_alone(const Course& course, const PageRankOptions& options, std::size_t method, int size,
                     const PagingOptions& paging = {}) {
  const Device device({DeviceChoice::host, 2, 0});
  const PageRankResult start = pagerank(device, course.before, options);
  const Followed alone = follow(course, options, start, method, {});
  std::vector<Followed> on_ranks(static_cast<std::size_t>(size));
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    on_ranks[static_cast<std::size_t>(rank)] =
        follow(course, options, start, method, {.paging = paging, .ranks = &ranks});
  });
  std::vector<double> ranks(alone.ranks.size());
  for (const Followed& followed : on_ranks) expect_same(followed, alone, ranks);
  EXPECT_EQ(ranks, alone.ranks);
}

TEST(DynamicOnRanks, IsThatOfOneProcess) {
  const Course directed = course_of(rank_rmat(false, true), 6),
               undirected = course_of(rank_rmat(true, false), 6);
  for (std::size_t method = 0; method < std::size(kMethods); ++method) {
    for (const int size : {2, 3, 4}) {
      SCOPED_TRACE("method " + std::to_string(method) + " on " + std::to_string(size));
      PageRankOptions options;
      options.tolerance = 1e-7;
      options.norm = size == 4 ? RankNorm::l2 : size == 3 ? RankNorm::l1 : RankNorm::linf;
      options.weighted = size == 3;
      expect_as_alone(size == 2 ? undirected : directed, options, method, size);
      options.dangling = Dangling::self_loop;
      expect_as_alone(size == 2 ? directed : undirected, options, method, size);
    }
  }
}

TEST(DynamicOnRanks, MayOwnNoVertexOrNoEdge) {
  PageRankOptions options;
  options.weighted = true;
  std::vector<NamedGraph> graphs = rank_graphs();
  graphs.push_back({"without vertices at first", stat::make_graph(0, {}, true, true)});
  for (auto& [name, graph] : graphs) {
    if (graph.vertices() > 100 || name == "extreme weights") continue;
    const Course course = course_of(with_in_edges(std::move(graph)), 2);
    for (std::size_t method = 0; method < std::size(kMethods); ++method) {
      SCOPED_TRACE(name + ", method " + std::to_string(method));
      options.dangling = method % 2 == 0 ? Dangling::uniform : Dangling::self_loop;
      expect_as_alone(course, options, method, 4);
    }
  }
}

TEST(DynamicOnRanks, WorksInPartitions) {
  const Course course = course_of(rank_rmat(false, true), 6);
  PageRankOptions options;
  options.tolerance = 1e-7;
  for (std::size_t method = 0; method < std::size(kMethods); ++method)
    expect_as_alone(course, options, method, 3, {.partitions = 7, .slots = 2});
}

}  // namespace
}  // namespace sluice::test
