// --verify accepts the ranks of every method, and finds wrong ones.
#include "engine/pagerank/verify.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

const Device& host() {
  static const Device device({DeviceChoice::host, 2, 0});
  return device;
}

/// The ranks with those of vertex 0 and of the first vertex whose rank differs exchanged.
std::vector<double> exchanged(std::span<const double> ranks) {
  std::vector<double> wrong(ranks.begin(), ranks.end());
  std::size_t v = 1;
  while (std::fabs(wrong[v] - wrong[0]) < 1e-4) ++v;
  std::swap(wrong[0], wrong[v]);
  return wrong;
}

TEST(VerifyRanks, AcceptsStaticRanksAndNoOthers) {
  for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
    for (const bool weighted : {false, true}) {
      pagerank::Options options;
      options.dangling = dangling, options.weighted = weighted;
      const Graph graph = with_in_edges(rank_rmat(false, true)), file = elsewhere(copy_of(graph));
      const pagerank::Result found = pagerank::run_pagerank(host(), graph, options);
      const auto wrong = exchanged(found.ranks.span());

      for (const Graph* where : {&graph, &file}) {
        EXPECT_NO_THROW(pagerank::verify_pagerank(*where, options, found.ranks.span(), found.last_l1));
        EXPECT_THROW(pagerank::verify_pagerank(*where, options, wrong, found.last_l1), RunError);
      }
      EXPECT_EQ(pagerank::check_ranks(graph, options, wrong).change,
                check_ranks(file, options, wrong).change);
    }
  }
}

/// A plain sum of a million equal ranks has a larger error than ranks may have.
TEST(VerifyRanks, SumsManyEqualRanks) {
  for (const std::uint64_t vertices : {1'000'001u, 1'000'003u}) {
    Graph graph;
    graph.directed = false;
    graph.out.offsets = HostArray<EdgeIndex>(vertices + 1);
    std::fill(graph.out.offsets.begin(), graph.out.offsets.end(), 0);
    std::vector<double> ranks(vertices, 1 / static_cast<double>(vertices));

    EXPECT_NO_THROW(pagerank::verify_pagerank(graph, {}, ranks, 0));
    ranks[0] += 1e-10;
    EXPECT_THROW(pagerank::verify_pagerank(graph, {}, ranks, 0), RunError);
  }
}

TEST(VerifyRanks, OnRanksOfAJobIsThatOfOne) {
  const Graph graph = elsewhere(with_in_edges(rank_rmat(false, false)));
  const pagerank::Result found = pagerank::run_pagerank(host(), graph);
  const auto wrong = exchanged(found.ranks.span());
  const double alone = pagerank::check_ranks(graph, {}, wrong).change;
  Meeting::run(3, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    EXPECT_NEAR(pagerank::check_ranks(graph, {}, wrong, &ranks).change, alone, 1e-14);
    EXPECT_NO_THROW(pagerank::verify_pagerank(graph, {}, found.ranks.span(), found.last_l1, &ranks));
    EXPECT_THROW(pagerank::verify_pagerank(graph, {}, wrong, found.last_l1, &ranks), RunError);
  });
}

/// Follows a course batch by batch, and passes what is verified after each to `use`.
template <class Use>
void follow_verified(const Course& course, const pagerank::Options& options,
                     const pagerank::DynamicRankOptions& dynamic, Use&& use) {
  pagerank::Options first = options;
  const pagerank::Result start = pagerank::run_pagerank(host(), course.before, first);
  pagerank::DynamicRanks ranks(host(), course.before, start.ranks.span(), options);
  double before = pagerank::check_ranks(course.before, options, start.ranks.span()).change;
  for (const UpdateResult& batch : course.batches) {
    const pagerank::DynamicRankResult result = ranks.follow(batch.graph, batch.changes, dynamic);
    const double after = pagerank::check_ranks(batch.graph, options, ranks_of(ranks)).change;
    use(batch.graph, ranks_of(ranks), result, before);
    before = after;
  }
}

TEST(VerifyRanks, AcceptsWhatEveryMethodFinds) {
  for (auto& [name, graph] : rank_graphs()) {
    if (name == "extreme weights") continue;
    const Course course = course_of(with_in_edges(std::move(graph)), 6);
    for (const pagerank::RankMethod method : kFollowers) {
      for (const double tolerance : {1e-2, 1e-4, 1e-7}) {
        for (const pagerank::Dangling dangling :
             {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
          SCOPED_TRACE(name + ", method " + std::to_string(static_cast<int>(method)));
          pagerank::Options options;
          options.dangling = dangling;
          const pagerank::DynamicRankOptions dynamic{method, tolerance, tolerance};
          follow_verified(
              course, options, dynamic,
              [&](const Graph& changed, const std::vector<double>& found, const auto& result, double before) {
                EXPECT_NO_THROW(pagerank::verify_followed(changed, options, dynamic, found, result, before));
              });
        }
      }
    }
  }
}

TEST(VerifyRanks, CatchesRanksThatDidNotFollow) {
  const Course course = course_of(with_in_edges(rank_rmat(false, false)), 40);
  for (const pagerank::RankMethod method : kFollowers) {
    for (const pagerank::Dangling dangling : {pagerank::Dangling::uniform, pagerank::Dangling::self_loop}) {
      SCOPED_TRACE("method " + std::to_string(static_cast<int>(method)));
      pagerank::Options options;
      options.dangling = dangling;
      const pagerank::DynamicRankOptions dynamic{method};
      std::vector<double> earlier;
      follow_verified(
          course, options, dynamic,
          [&](const Graph& changed, const std::vector<double>& found, const auto& result, double before) {
            const auto refuse = [&](std::vector<double> wrong) {
              wrong.resize(found.size());
              EXPECT_THROW(pagerank::verify_followed(changed, options, dynamic, wrong, result, before),
                           RunError);
            };
            refuse(exchanged(found));
            if (!earlier.empty()) refuse(earlier);
            earlier = found;
          });
    }
  }
}

}  // namespace
}  // namespace sluice::test
