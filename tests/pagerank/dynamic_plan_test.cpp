// Plans of dynamic PageRank construct its runs. They name the peak of ranks and lists to the byte, and an
// upper bound for a batch.
#include "engine/pagerank/dynamic/plan.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/peak.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/launch.hpp"
#include "exchange/thread_ranks.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

UpdateSize size_of(const Graph& graph, const UpdateBatch& batch) {
  return size_of_update(graph, batch.insertions.size() + batch.deletions.size(),
                        vertices_with(batch.insertions, graph.vertices()));
}

/// Follows a batch like the program.
void follow_one(const Device& device, Graph graph, const UpdateBatch& batch, const pagerank::Options& options,
                const pagerank::DynamicRankOptions& dynamic, const pagerank::RankPlace& place) {
  HostArray<double> earlier(graph.vertices(), "earlier ranks");
  std::fill(earlier.begin(), earlier.end(), 1.0 / static_cast<double>(graph.vertices()));
  if (graph.directed && graph.in.offsets.empty() && !graph.edge_source) graph.in = transpose(graph.out);
  pagerank::DynamicRanks ranks(device, graph, earlier.span(), options, place);
  earlier = {};
  const UpdateResult updated = update_graph(std::move(graph), batch, 2);
  ranks.follow(updated.graph, updated.changes, dynamic);
  HostArray<double> result(ranks.own_rows(), "ranks");
  ranks.read_ranks(result.span());
}

struct Case {
  std::string name;
  Graph graph;
  UpdateBatch batch;
};

/// Lists that are shared, stored, or not made yet; small and large batches, with and without new vertices.
std::vector<Case> cases() {
  std::vector<Case> all;
  std::mt19937_64 random(41);
  for (const std::size_t size : {3, 3000}) {
    for (const std::uint64_t added : {0, 900}) {
      const auto add = [&](const char* name, Graph graph) {
        UpdateBatch batch = random_batch(random, graph, size, added);
        all.push_back({fmt::format("{}, {} edges, {} vertices", name, size, added), std::move(graph), batch});
      };
      add("undirected", rank_rmat(true, false));
      add("with in-edges", with_in_edges(rank_rmat(false, false)));
      add("without in-edges", rank_rmat(false, false));
    }
  }
  return all;
}

TEST(DynamicPlan, NamesThePeakOfARun) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const pagerank::Options options{.weighted = one.batch.insertions.size() % 2 == 0};
    const UpdateSize size = size_of(one.graph, one.batch);
    const pagerank::Plan plan = pagerank::plan_dynamic_ranks(device, one.graph, options, size);
    for (const pagerank::RankMethod method : kFollowers) {
      Graph graph = copy_of(one.graph);
      const Peak peak = peak_of([&](const Device& on) {
        follow_one(on, std::move(graph), one.batch, options, {.method = method}, {});
      });

      EXPECT_EQ(plan.device_bytes, peak.device);
      EXPECT_GE(plan.host_bytes, peak.host);
      EXPECT_LE(plan.host_bytes, peak.host + 2 * size.changes * 64 + 1024) << "of a change nothing is known";
    }
  }
}

TEST(DynamicPlan, OfPartitionsIsWhatARunWithTwoSlotsTakes) {
  const Device device({DeviceChoice::host, 2, 0});
  const pagerank::RankPlace place{.paging = {.partitions = 8, .slots = 2}};
  for (const Case& one : cases()) {
    if (one.graph.in.offsets.empty() && one.graph.directed) continue;
    for (const bool in_file : {false, true}) {
      SCOPED_TRACE(one.name + (in_file ? ", in a file" : ""));
      Graph graph = copy_of(one.graph);
      if (in_file) graph = elsewhere(std::move(graph));
      const UpdateSize size = size_of(graph, one.batch);
      const pagerank::Plan plan = pagerank::plan_dynamic_ranks(device, graph, {}, size, place);
      const Peak peak =
          peak_of([&](const Device& on) { follow_one(on, std::move(graph), one.batch, {}, {}, place); });

      EXPECT_EQ(plan.partitions, 8u);
      EXPECT_GE(plan.device_bytes + size.changes * sizeof(Vertex), peak.device) << "lists that grow";
      EXPECT_LE(plan.device_bytes, peak.device + (64u << 10)) << "look-ups are not known beforehand";
    }
  }
}

TEST(DynamicPlan, OfARankIsWhatThatRankTakes) {
  constexpr int kRanks = 3;
  const Device device({DeviceChoice::host, 1, 0});
  for (const Case& one : cases()) {
    if (one.graph.directed && one.graph.in.offsets.empty()) continue;
    SCOPED_TRACE(one.name);
    std::vector<std::uint64_t> peaks(kRanks);
    Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      const Device on({DeviceChoice::host, 1, 0});
      follow_one(on, copy_of(one.graph), one.batch, {}, {}, {.ranks = &ranks});
      peaks[static_cast<std::size_t>(rank)] = on.memory().peak();
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto planned = make_planned(rank, kRanks);
      const pagerank::Plan plan = pagerank::plan_dynamic_ranks(
          device, one.graph, {}, size_of(one.graph, one.batch), {.ranks = planned.get()});

      EXPECT_EQ(plan.device_bytes, peaks[static_cast<std::size_t>(rank)]) << rank;
      EXPECT_TRUE(plan.exact_on_ranks);
    }
  }
}

TEST(DynamicPlan, SaysWhatFits) {
  const Course course = course_of(with_in_edges(rank_rmat(false, true)), 4),
               in_file = course_elsewhere(course);
  const Device plenty({DeviceChoice::host, 2, 0});
  const pagerank::Result start = pagerank::run_pagerank(plenty, course.before);
  const Followed expected = follow(plenty, course, {}, start, 3, {});
  for (const Course* where : {&course, &in_file}) {
    const UpdateSize size = size_of(where->before, course.lines[1]);
    for (const PagingOptions& paging : {PagingOptions{}, PagingOptions{.partitions = 6}}) {
      const pagerank::RankPlace place{.paging = paging};
      const auto plan_on = [&](const Device& device) {
        return pagerank::plan_dynamic_ranks(device, where->before, {}, size, place);
      };
      constexpr std::uint64_t kSlots = 80u << 10;  // of the smallest slots, and look-up tables
      const std::uint64_t state = plan_on(plenty).state_bytes;
      const Device tight({DeviceChoice::host, 2, plan_on(plenty).device_bytes + kSlots}),
          little({DeviceChoice::host, 2, state - 1});

      EXPECT_LE(plan_on(tight).device_bytes, tight.memory().ceiling());
      EXPECT_EQ(follow(tight, *where, {}, start, 3, place).ranks, expected.ranks);
      EXPECT_GT(plan_on(little).device_bytes, little.memory().ceiling());
      EXPECT_THROW(follow(little, *where, {}, start, 3, place), BudgetError);
    }
  }
}

}  // namespace
}  // namespace sluice::test
