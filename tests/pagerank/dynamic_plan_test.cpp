// What dynamic PageRank is said to take is enough, and what it is said not to fit does not.
#include "engine/pagerank/dynamic/plan.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

TEST(DynamicPlan, SaysWhatFits) {
  const Course course = course_of(with_in_edges(rank_rmat(false, true)), 4),
               in_file = course_elsewhere(course);
  const Device plenty({DeviceChoice::host, 2, 0});
  pagerank::Options options;
  options.weighted = true;
  const pagerank::Result start = pagerank::run_pagerank(plenty, course.before, options);
  const Followed expected = follow(plenty, course, options, start, 3, {});
  for (const PagingOptions& paging : {PagingOptions{}, PagingOptions{.partitions = 6}}) {
    for (const Course* where : {&course, &in_file}) {
      unsigned fit = 0, did_not = 0;
      for (const std::uint64_t ceiling : {32u << 10, 48u << 10, 512u << 10, 2048u << 10}) {
        const Device device({DeviceChoice::host, 2, ceiling});
        const pagerank::RankPlace place{.paging = paging};
        const pagerank::Plan plan = pagerank::plan_dynamic_ranks(device, where->before, options, 0, place);
        if (plan.state_bytes > ceiling) {
          ++did_not;
          EXPECT_THROW(follow(device, *where, options, start, 3, place), BudgetError);
        } else if (plan.device_bytes + plan.state_bytes <=
                   ceiling) {  // new vertices: old state beside the new
          ++fit;
          EXPECT_EQ(follow(device, *where, options, start, 3, place).ranks, expected.ranks);
          EXPECT_LE(device.memory().peak(), ceiling);
        }
      }
      EXPECT_EQ(did_not, 2u);
      EXPECT_EQ(fit, 2u);
    }
  }
}

TEST(DynamicPlan, CountsTheUpdateAndInEdgesThatAreMade) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph bare = rank_rmat(false, false), stored = with_in_edges(rank_rmat(false, false));
  const auto host_bytes = [&](const Graph& graph, std::uint64_t update) {
    return pagerank::plan_dynamic_ranks(device, graph, {}, update).host_bytes;
  };

  EXPECT_GE(host_bytes(bare, 0), host_bytes(stored, 0) + bare.edges() * sizeof(Vertex));
  EXPECT_GE(host_bytes(stored, 1u << 30), 1u << 30);
}

}  // namespace
}  // namespace sluice::test
