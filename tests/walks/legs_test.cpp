// Walks whose rows leave the device in legs are the same, bit for bit.
#include <gtest/gtest.h>

#include "apps/bench/generated_graph.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/resident_impl.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// With little memory, completed steps leave the device in legs, so that more walks can be under way.
TEST(WalkLegs, AreTheWalksOfTheWholeGraph) {
  constexpr std::uint64_t kWalks = 10'000, kCeiling = 304u << 10, kSteps = 20, kEach = 44;
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  const Graph graph = bench::generate_graph({io::GraphKind::rmat, 13, 8}, rules);
  Device device({DeviceChoice::host, 3, 0}), tight({DeviceChoice::host, 3, kCeiling});
  const PagingOptions paging{.partitions = 64};
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(tight, graph, paging);
  constexpr std::uint64_t kRow = (kSteps + 1) * sizeof(Vertex);
  const auto plan = [&](std::uint64_t row) {
    return plan_pages(tight, graph, paging, {}, kEach + kRow, kWalks, kSteps, 0, row);
  };
  ASSERT_LT(plan(kRow).leg, kSteps);
  ASSERT_EQ(plan(0).leg, kSteps);
  ASSERT_GT(plan(kRow).batch, plan(0).batch);

  unsigned compared = 0;
  for (const Job& job : walk_jobs(kWalks)) {
    if (job.name.find("/wide") != std::string::npos) continue;
    try {
      EXPECT_TRUE(job.run(parts) == job.run(whole)) << job.name;
      ++compared;
    } catch (const BudgetError&) {  // tables of vertices leave no memory for slots
    }
  }
  EXPECT_GE(compared, 5u);
}

}  // namespace
}  // namespace sluice::test
