// Plans of queries construct the host's backends: no query runs with less memory, and a query that reaches
// nothing needs no more.
#include <gtest/gtest.h>

#include "core/peak.hpp"
#include "engine/exchange/launch.hpp"
#include "exchange/thread_ranks.hpp"
#include "partition/elsewhere.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

Graph plain_graph() {
  return generated(io::GraphKind::rmat, 12, false, io::WeightRule::none);
}

/// A query that stays at its seed.
Starts lone_query(const Graph& graph) {
  return starts_of({{{lone_vertex(graph), 1}}});
}

ppr::Options short_list(ppr::Method method) {
  ppr::Options options;
  options.method = method;
  options.length = method == ppr::Method::exact ? 2 : 0;
  options.top = 1;
  return options;
}

constexpr ppr::Method kMethods[] = {ppr::Method::exact, ppr::Method::push};
/// The list of a query, and the look-up tables of partitions.
constexpr std::uint64_t kList = 1024, kLookUps = 64u << 10;

TEST(PprPlan, NamesThePeakOfTheSmallestQuery) {
  const Graph graph = plain_graph();
  const Starts starts = lone_query(graph);
  const Device device({DeviceChoice::host, 2, 0});
  for (const ppr::Method method : kMethods) {
    const ppr::Options options = short_list(method);
    const ppr::Plan plan = plan_ppr(device, graph, starts, options);
    const Peak peak = peak_of([&](const Device& on) { ran(on, graph, starts, options); });

    EXPECT_GE(plan.smallest_bytes + kList, peak.device);
    EXPECT_LE(plan.smallest_bytes, peak.device);
    EXPECT_EQ(plan.host_bytes, 0u);
  }
}

TEST(PprPlan, OfPartitionsIsWhatARunWithTwoSlotsTakes) {
  const Graph graph = plain_graph(), in_file = elsewhere(plain_graph());
  const Starts starts = lone_query(graph);
  const Device device({DeviceChoice::host, 2, 0});
  for (const auto& [from, transport] :
       {std::pair(&graph, Transport::copied), std::pair(&in_file, Transport::file)}) {
    const PagingOptions paging{.partitions = 8, .slots = 2, .transport = transport};
    const ppr::Options options = short_list(ppr::Method::exact);
    const ppr::Plan plan = plan_ppr(device, *from, starts, options, paging);
    Ran found;
    const Peak peak = peak_of([&](const Device& on) { found = ran(on, *from, starts, options, paging); });

    EXPECT_EQ(plan.partitions, 8u);
    EXPECT_GE(plan.smallest_bytes + kList, peak.device);
    EXPECT_LE(plan.smallest_bytes, peak.device + kLookUps);
    EXPECT_GE(plan.smallest_bytes + plan.host_bytes + kList, peak.host);
  }
}

TEST(PprPlan, OfARankIsWhatThatRankTakes) {
  constexpr int kRanks = 3;
  const Graph graph = plain_graph();
  const Starts starts = lone_query(graph);
  const ppr::Options options = short_list(ppr::Method::exact);
  const auto place = [](Communicator& ranks) {
    return PagingOptions{.partitions = 4, .slots = 2, .transport = Transport::copied, .shard = &ranks};
  };
  // The least budget of all ranks limits what they send.
  constexpr std::uint64_t kMemory = 8u << 20;
  std::vector<std::uint64_t> peaks(kRanks);
  Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    const Device on({DeviceChoice::host, 1, kMemory});
    ran(on, graph, starts, options, place(ranks));
    peaks[static_cast<std::size_t>(rank)] = on.memory().peak();
  });
  const Device device({DeviceChoice::host, 1, kMemory});
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto ranks = make_planned(rank, kRanks);
    const ppr::Plan plan = plan_ppr(device, graph, starts, options, place(*ranks));

    EXPECT_EQ(plan.partitions, 4u);
    EXPECT_GE(plan.smallest_bytes + kList, peaks[static_cast<std::size_t>(rank)]) << rank;
    EXPECT_LE(plan.smallest_bytes, peaks[static_cast<std::size_t>(rank)] + kLookUps) << rank;
    // Lists are counted twice, as found and as received, with the position of each. They are not counted for
    // each rank.
    const std::uint64_t lists = 2 * graph.edges() * sizeof(Vertex);
    EXPECT_GT(plan.host_bytes, lists);
    EXPECT_LT(plan.host_bytes, 2 * lists + 32 * graph.vertices());
  }
}

}  // namespace
}  // namespace sluice::test
