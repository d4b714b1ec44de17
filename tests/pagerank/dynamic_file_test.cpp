// Dynamic PageRank of graphs whose edges are in a file gives the ranks, iterations and frontiers of the graph
// in memory, bit for bit.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

void expect_as_in_memory(const Course& course, const pagerank::Options& options, std::size_t method, int size,
                         const PagingOptions& paging = {}) {
  const Device device({DeviceChoice::host, 2, 0});
  const pagerank::Result start = pagerank::run_pagerank(device, course.before, options);
  const Followed whole = follow(device, course, options, start, method, {});
  const Course in_file = course_elsewhere(course);
  std::vector<Followed> on_ranks(static_cast<std::size_t>(size));
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    on_ranks[static_cast<std::size_t>(rank)] =
        follow(device, in_file, options, start, method, {.paging = paging, .ranks = &ranks});
  });
  expect_same(on_ranks, whole);
}

/// Calls check(directed, undirected, options, method) with courses of both kinds of graph, for every method.
template <class Check>
void with_every_method(Check&& check) {
  const Course directed = course_of(rank_rmat(false, true), 6),
               undirected = course_of(rank_rmat(true, false), 6);
  for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
    SCOPED_TRACE("method " + std::to_string(method));
    pagerank::Options options;
    options.tolerance = 1e-7;
    check(directed, undirected, options, method);
  }
}

TEST(DynamicFromFile, IsThatInMemory) {
  with_every_method(
      [](const Course& directed, const Course& undirected, pagerank::Options options, std::size_t method) {
        expect_as_in_memory(undirected, options, method, 1);
        expect_as_in_memory(directed, options, method, 1, {.partitions = 7, .slots = 3});
        options.weighted = true;
        options.dangling = pagerank::Dangling::self_loop;
        expect_as_in_memory(undirected, options, method, 1, {.partitions = 64, .slots = 5});
        expect_as_in_memory(directed, options, method, 1, {.transport = Transport::file});
      });
}

TEST(DynamicFromFile, IsThatInMemoryOnRanks) {
  with_every_method(
      [](const Course& directed, const Course& undirected, pagerank::Options options, std::size_t method) {
        expect_as_in_memory(undirected, options, method, 3, {.partitions = 5, .slots = 2});
        options.weighted = true;  // ranks must exchange flags of dangling vertices
        expect_as_in_memory(directed, options, method, 2);
      });
}

TEST(DynamicFromFile, OfHardGraphsToo) {
  pagerank::Options options;
  options.weighted = true;
  for (auto& [name, graph] : rank_graphs()) {
    if (graph.vertices() > 100 || name == "extreme weights") continue;
    const Course course = course_of(with_in_edges(std::move(graph)), 4);
    for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
      SCOPED_TRACE(name + ", method " + std::to_string(method));
      options.dangling = method % 2 == 0 ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
      expect_as_in_memory(course, options, method, 1, {.partitions = 3, .slots = 2});
      expect_as_in_memory(course, options, method, 4);
    }
  }
}

TEST(DynamicFromFile, ReadsOnlyWhatIsAffected) {
  const Device device({DeviceChoice::host, 2, 0});
  Graph graph = generated(io::GraphKind::grid, 14, true, io::WeightRule::none);
  pagerank::Options options;
  options.tolerance = 1e-8;
  const pagerank::Result start = pagerank::run_pagerank(device, graph, options);
  graph = elsewhere(std::move(graph));
  pagerank::DynamicRanks ranks(device, graph, start.ranks.span(), options,
                               {.paging = {.partitions = 64, .slots = 8}});
  UpdateBatch batch;
  batch.deletions = {{0}, {1}, {}, {}};
  const UpdateResult update = update_graph(std::move(graph), batch, 2);

  const auto result =
      ranks.follow(update.graph, update.changes, {pagerank::RankMethod::pruned_frontier, 1e-3, 1e-3});

  EXPECT_LT(result.partitions_read, 8u);
  EXPECT_EQ(result.traffic.partition_transfers, result.partitions_read);
  EXPECT_GT(result.traffic.read_bytes, 0u);
}

/// If vertices whose change spreads have many edges, their out-lists are not read one by one.
TEST(DynamicFromFile, FindsManyAffectedVerticesByTheirInLists) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const bool undirected : {false, true}) {
    const Course course = course_of(rank_rmat(undirected, !undirected), 6);
    pagerank::Options options;
    options.tolerance = 1e-7;
    const pagerank::Result start = pagerank::run_pagerank(device, course.before, options);
    const auto pruned = static_cast<std::size_t>(
        std::ranges::find(kFollowers, pagerank::RankMethod::pruned_frontier) - kFollowers);
    const Followed whole = follow(device, course, options, start, pruned, {});
    const Followed in_file =
        follow(device, course_elsewhere(course), options, start, pruned, {.paging = {.partitions = 7}});

    expect_same({in_file}, whole);
    EXPECT_EQ(whole.results[0].in_list_iterations, 0u);
    EXPECT_GT(in_file.results[0].in_list_iterations, 0u) << undirected;
    EXPECT_LT(in_file.results[0].in_list_iterations, in_file.results[0].iterations) << undirected;
  }
}

TEST(DynamicFromFile, NeedsInEdges) {
  const Device device({DeviceChoice::host, 1, 0});
  Graph graph = rank_rmat(false, false);
  const pagerank::Result start = pagerank::run_pagerank(device, graph);
  graph = elsewhere(std::move(graph));

  EXPECT_THROW(pagerank::DynamicRanks(device, graph, start.ranks.span(), {}), UsageError);
}

}  // namespace
}  // namespace sluice::test
