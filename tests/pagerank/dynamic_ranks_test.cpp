// Dynamic PageRank on several ranks of a job gives the ranks, iterations and frontiers of one process, bit
// for bit.
#include <gtest/gtest.h>

#include "exchange/thread_ranks.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

void expect_as_alone(const Course& course, const pagerank::Options& options, std::size_t method, int size,
                     const PagingOptions& paging = {}) {
  const Device device({DeviceChoice::host, 2, 0});
  const pagerank::Result start = pagerank::run_pagerank(device, course.before, options);
  const Followed alone = follow(device, course, options, start, method, {});
  std::vector<Followed> on_ranks(static_cast<std::size_t>(size));
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    on_ranks[static_cast<std::size_t>(rank)] =
        follow(device, course, options, start, method, {.paging = paging, .ranks = &ranks});
  });
  expect_same(on_ranks, alone);
}

TEST(DynamicOnRanks, IsThatOfOneProcess) {
  const Course directed = course_of(rank_rmat(false, true), 6),
               undirected = course_of(rank_rmat(true, false), 6);
  for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
    for (const int size : {2, 3, 4}) {
      SCOPED_TRACE("method " + std::to_string(method) + " on " + std::to_string(size));
      pagerank::Options options;
      options.tolerance = 1e-7;
      options.norm = size == 4   ? pagerank::RankNorm::l2
                     : size == 3 ? pagerank::RankNorm::l1
                                 : pagerank::RankNorm::linf;
      options.weighted = size == 3;
      expect_as_alone(size == 2 ? undirected : directed, options, method, size);
      options.dangling = pagerank::Dangling::self_loop;
      expect_as_alone(size == 2 ? directed : undirected, options, method, size);
    }
  }
}

TEST(DynamicOnRanks, MayOwnNoVertexOrNoEdge) {
  pagerank::Options options;
  options.weighted = true;
  std::vector<NamedGraph> graphs = rank_graphs();
  graphs.push_back({"without vertices at first", stat::make_graph(0, {}, true, true)});
  for (auto& [name, graph] : graphs) {
    if (graph.vertices() > 100 || name == "extreme weights") continue;
    const Course course = course_of(with_in_edges(std::move(graph)), 2);
    for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
      SCOPED_TRACE(name + ", method " + std::to_string(method));
      options.dangling = method % 2 == 0 ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
      expect_as_alone(course, options, method, 4);
    }
  }
}

TEST(DynamicOnRanks, WorksInPartitions) {
  const Course course = course_of(rank_rmat(false, true), 6);
  pagerank::Options options;
  options.tolerance = 1e-7;
  for (std::size_t method = 0; method < std::size(kFollowers); ++method)
    expect_as_alone(course, options, method, 3, {.partitions = 7, .slots = 2});
}

}  // namespace
}  // namespace sluice::test
