// A plan constructs the run itself, so its peak is exact to the byte unless it depends on results.
#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "core/host_ceiling.hpp"
#include "core/peak.hpp"
#include "engine/acc/solve.hpp"

namespace sluice::test {
namespace {

constexpr auto kPaths = [](const acc::AccGraph& on) { return sssp(on, 0, 0, {}); };
constexpr auto kParts = [](const acc::AccGraph& on) { return components(on); };

TEST(AccPlan, NamesThePeakOfARun) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const auto& [name, graph] : acc_graphs()) {
    SCOPED_TRACE(name);
    const auto expect_peak = [&, &graph = graph](const acc::AccNeeds& needs, const auto& solve) {
      EXPECT_EQ(planned(plan_solver(device, graph, needs, {}, {}, solve)),
                peak_of([&](const Device& on) { solve(acc::AccGraph(on, graph, needs)); }));
    };

    expect_peak({.in_edges = true}, [](const acc::AccGraph& on) { return bfs(on, 0); });
    expect_peak({}, kParts);
  }
}

TEST(AccPlan, TakesNoMemoryAndLeavesTheBudgetsAsTheyWere) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = rank_rmat(true, true);
  const std::uint64_t used = host_budget().used(), peak = host_budget().peak();
  const HostCeiling nothing(0);

  const acc::AccPlan plan = acc::plan_solver(device, graph, {.weights = true}, {}, {}, kPaths);

  EXPECT_GT(plan.host_bytes, graph.vertices() * 16);
  EXPECT_EQ(host_budget().used(), used);
  EXPECT_EQ(host_budget().peak(), peak);
  EXPECT_EQ(device.memory().peak(), 0u);
}

TEST(AccPlan, HasABitAVertexForPullsAlone) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = rank_rmat(true, true);
  const std::uint64_t bits = (graph.vertices() + 31) / 32 * sizeof(std::uint32_t);
  const auto peak = [&](const acc::AccNeeds& needs, auto&& run) {
    return peak_of([&](const Device& on) { run(acc::AccGraph(on, graph, needs)); }).device;
  };
  const auto paths = [&](acc::AccDirection direction) {
    return peak({.in_edges = true, .weights = true},
                [=](const acc::AccGraph& on) { sssp(on, 0, 0, {.direction = direction}); });
  };
  const auto cores = [&](acc::AccDirection direction) {
    return peak({.in_edges = true, .simple = true},
                [=](const acc::AccGraph& on) { core_numbers(on, 0, {.direction = direction}); });
  };

  const auto plan = [&](const acc::AccNeeds& needs, const auto& solve) {
    return plan_solver(device, graph, needs, {}, {}, solve).device_bytes;
  };
  EXPECT_EQ(plan({.in_edges = true, .weights = true}, kPaths), paths(acc::AccDirection::pull));
  EXPECT_EQ(plan({.in_edges = true, .simple = true},
                 [](const acc::AccGraph& on) { return core_numbers(on, 0, {}); }),
            cores(acc::AccDirection::pull));
  EXPECT_EQ(paths(acc::AccDirection::pull) - paths(acc::AccDirection::push), bits);
  EXPECT_EQ(cores(acc::AccDirection::pull) - cores(acc::AccDirection::push), bits);
}

TEST(AccPlan, OfPartitionsIsWhatARunWithTwoSlotsTakes) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = rank_rmat(false, false);
  const acc::AccPlace place{.paging = {.partitions = 8, .slots = 2, .transport = Transport::copied}};

  const acc::AccPlan plan = acc::plan_solver(device, graph, {}, place, {}, kParts);
  acc::AccStats stats;
  const Peak peak =
      peak_of([&](const Device& on) { stats = components(acc::AccGraph(on, graph, {}, place)).stats; });

  EXPECT_EQ(plan.partitions, stats.partitions);
  EXPECT_GE(plan.device_bytes, peak.device);
  EXPECT_LE(plan.device_bytes, peak.device + (64u << 10)) << "look-ups are not known beforehand";
}

}  // namespace
}  // namespace sluice::test
