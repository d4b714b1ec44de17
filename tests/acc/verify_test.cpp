// Verification accepts right results and finds wrong ones, wherever edges are and with any number of threads.
#include "engine/acc/verify.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "acc/cases.hpp"
#include "core/peak.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {
namespace {

using Check = std::function<void(const Graph&, Communicator*)>;

/// The number of ranks, which are threads here, that find a fault. Every check ends with a barrier of all
/// ranks, and ranks that find a fault wait there.
int faults_on(int size, const Graph& graph, const Check& check) {
  std::atomic<int> faults = 0;
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    try {
      check(graph, &ranks);
    } catch (const RunError& fault) {
      EXPECT_TRUE(std::string(fault.what()).starts_with("verify: ")) << fault.what();
      ++faults;
      ranks.barrier("the fault");
    }
  });
  return faults;
}

/// The same graph in memory, and with edges that are read on demand.
struct Places {
  Graph whole, file;

  void expect_right(const Check& check) const {
    for (const Graph* graph : {&whole, &file}) {
      EXPECT_NO_THROW(check(*graph, nullptr));
      for (const int ranks : {2, 3}) EXPECT_EQ(faults_on(ranks, *graph, check), 0);
    }
  }
  void expect_wrong(const Check& check) const {
    for (const Graph* graph : {&whole, &file}) {
      EXPECT_THROW(check(*graph, nullptr), RunError);
      for (const int ranks : {2, 3}) EXPECT_GT(faults_on(ranks, *graph, check), 0);
    }
  }
};

Check bfs_is(Vertex source, const acc::BfsResult& found) {
  return [&, source](const Graph& graph, Communicator* ranks) {
    acc::verify_bfs(graph, source, found.depths.span(), found.parents.span(), ranks, 3);
  };
}
Check distances_are(Vertex source, const acc::SsspResult& found) {
  return [&, source](const Graph& graph, Communicator* ranks) {
    acc::verify_sssp(graph, source, found.distances.span(), ranks, 3);
  };
}
Check cores_are(const acc::CoreResult& found, std::uint32_t k = 0) {
  return [&, k](const Graph& graph, Communicator* ranks) {
    acc::verify_cores(graph, k, found.cores.span(), ranks, 3);
  };
}
Check components_are(const acc::ComponentResult& found) {
  return [&](const Graph& graph, Communicator* ranks) {
    acc::verify_components(graph, found.components.span(), ranks, 3);
  };
}

/// A directed graph in a file has cores only if its in-edges are stored.
bool has_both_ways(const Graph& graph) {
  return !graph.directed || !graph.in.offsets.empty();
}

TEST(AccVerify, PassesWhatIsRight) {
  const Device device({DeviceChoice::host, 1, 0});
  auto wholes = acc_graphs(), files = acc_graphs();
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    SCOPED_TRACE(wholes[i].name);
    const Places places{std::move(wholes[i].graph), elsewhere(std::move(files[i].graph))};
    const acc::AccGraph graph(device, places.whole, {.in_edges = true, .weights = true});
    for (const Vertex source : some_sources(places.whole)) {
      places.expect_right(bfs_is(source, bfs(graph, source)));
      places.expect_right(distances_are(source, sssp(graph, source)));
    }
    places.expect_right(components_are(components(graph)));
    const acc::AccGraph simple(device, places.whole, {.simple = true});
    for (const std::uint32_t k : {0u, 1u, 2u, 3u, 9u}) {
      const acc::CoreResult cores = core_numbers(simple, k);
      if (has_both_ways(places.whole)) places.expect_right(cores_are(cores, k));
      EXPECT_NO_THROW(acc::verify_cores(places.whole, k, cores.cores.span()));
    }
  }
}

TEST(AccVerify, TakesWhatAPlanCounts) {
  const Device device({DeviceChoice::host, 1, 0});
  for (const auto& [name, graph] : acc_graphs()) {
    if (graph.vertices() == 0) continue;
    SCOPED_TRACE(name);
    const acc::AccGraph plain(device, graph, {.weights = true}), simple(device, graph, {.simple = true});
    const auto search = bfs(plain, 0);
    const auto paths = sssp(plain, 0);
    const auto cores = core_numbers(simple);
    const auto parts = components(plain);
    for (const Check& check :
         {bfs_is(0, search), distances_are(0, paths), cores_are(cores), components_are(parts)}) {
      const std::uint64_t taken = peak_of([&](const Device&) { check(graph, nullptr); }).host;
      const MemoryPlan counting(host_budget(), MemoryPlan::Host::counted);
      check(graph, nullptr);
      EXPECT_EQ(counting.host_needed(), taken);
    }
  }
}

class WrongResult : public testing::Test {
 protected:
  static Graph make() {
    return stat::make_undirected(
        8, {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}, {3, 6, 0}, {6, 7, 0}, {4, 5, 0}}, true);
  }

  Device device_{{DeviceChoice::host, 1, 0}};
  Places places_{make(), elsewhere(make())};
  acc::AccGraph graph_{device_, places_.whole, {.in_edges = true, .weights = true}};
  acc::AccGraph simple_{device_, places_.whole, {.simple = true}};
};

TEST_F(WrongResult, OfASearchIsSeen) {
  const auto wrong = [&](auto&& plant) {
    acc::BfsResult found = bfs(graph_, 0);
    plant(found.depths, found.parents);
    places_.expect_wrong(bfs_is(0, found));
  };

  wrong([](auto&, auto& parents) { parents[3] = 2; });                        // not the smallest
  wrong([](auto&, auto& parents) { parents[3] = 0; });                        // of the wrong depth
  wrong([](auto&, auto& parents) { parents[6] = 2; });                        // of the wrong depth
  wrong([](auto& depths, auto&) { depths[0] = 1; });                          // the source
  wrong([](auto& depths, auto& parents) { depths[7] = 2, parents[7] = 1; });  // no edge leads from 1 to 7
  wrong([](auto& depths, auto& parents) {                                     // 4 and 5 are unreachable
    depths[4] = depths[5] = 1, parents[4] = parents[5] = 0;
  });
  wrong([](auto& depths, auto& parents) { depths[3] = -1, parents[3] = kNoVertex; });
}

TEST_F(WrongResult, OfShortestPathsIsSeen) {
  const auto wrong = [&](auto&& plant) {
    acc::SsspResult found = sssp(graph_, 0);
    plant(found.distances);
    places_.expect_wrong(distances_are(0, found));
  };

  wrong([](auto& distances) { distances[3] = distances[6] = distances[7] = 1.5; });
  wrong([](auto& distances) { distances[4] = distances[5] = 7; });  // tight among themselves
  wrong([](auto& distances) { distances[0] = 1; });
  wrong([](auto& distances) { distances[7] = std::numeric_limits<double>::quiet_NaN(); });
}

TEST_F(WrongResult, OfShortestPathsThatAreTooLongIsSeen) {
  acc::SsspResult found = sssp(graph_, 0);
  found.distances[7] = 3;

  for (const Graph* graph : {&places_.whole, &places_.file})
    EXPECT_THROW(acc::verify_sssp(*graph, 0, found.distances.span()), RunError);
}

TEST_F(WrongResult, OfCoresIsSeen) {
  for (const Vertex v : {0, 3, 5, 7}) {
    for (const int more : {-1, 1}) {
      acc::CoreResult found = core_numbers(simple_);
      found.cores[v] += static_cast<std::uint32_t>(more);
      places_.expect_wrong(cores_are(found));
    }
  }
  acc::CoreResult found = core_numbers(simple_, 2);
  found.cores[0] = 1;
  places_.expect_wrong(cores_are(found, 2));
  found = core_numbers(simple_, 2);
  found.cores[6] = 2;
  places_.expect_wrong(cores_are(found, 2));
  // All numbers of a core are one too low, or one too high: every vertex agrees with its neighbours.
  for (const std::uint32_t number : {1u, 3u}) {
    found = core_numbers(simple_);
    for (const Vertex v : {0, 1, 2, 3}) found.cores[v] = number;
    places_.expect_wrong(cores_are(found));
  }
}

TEST_F(WrongResult, OfComponentsIsSeen) {
  acc::ComponentResult found = components(graph_);
  found.components[5] = 5;
  places_.expect_wrong(components_are(found));
  found = components(graph_);
  found.components[4] = found.components[5] = 0;
  places_.expect_wrong(components_are(found));
}

TEST(AccVerify, KeepsWithinAFewPagesOfTheFile) {
  // Peeling removes a path from its ends: one edge at a time, whose lists are at hand.
  const Device device({DeviceChoice::host, 1, 0});
  std::vector<stat::Edge> links;
  for (Vertex v = 0; v + 1 < 100'000; ++v) links.push_back({v, v + 1, 1});
  const Graph whole = stat::make_undirected(100'000, links, false);
  const Graph file = elsewhere(stat::make_undirected(100'000, links, false));
  const acc::CoreResult cores = core_numbers(acc::AccGraph(device, whole, {.simple = true}));
  const std::uint64_t ceiling = host_budget().ceiling();

  host_budget().set_ceiling(host_budget().used() + (1u << 20));
  EXPECT_NO_THROW(acc::verify_cores(file, 0, cores.cores.span()));
  host_budget().set_ceiling(host_budget().used() + (64u << 10));
  EXPECT_THROW(acc::verify_cores(file, 0, cores.cores.span()), BudgetError);
  host_budget().set_ceiling(ceiling);
}

TEST(AccVerify, SaysWhatAFileMustStore) {
  const Graph file = elsewhere(stat::make_graph(3, {{0, 1}, {1, 2}}, false));
  const std::vector<std::uint32_t> cores{1, 1, 1};

  EXPECT_THROW(acc::verify_cores(file, 0, cores), UsageError);
}

}  // namespace
}  // namespace sluice::test
