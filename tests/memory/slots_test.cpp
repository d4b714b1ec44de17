// Slots for partitions: what becomes of loads when one of them fails.
#include "engine/memory/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/memory/paged_plan.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

/// Fails at the first edge, and gives all others later.
class FailingEdges final : public EdgeSource {
 public:
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    if (first == 0) throw RunError("a disk that fails");
    std::this_thread::sleep_for(50ms);
    std::fill(out.begin(), out.end(), Vertex{0});
  }
  void read_weights(EdgeIndex, std::span<float>) const override { throw RunError("there are none"); }
};

/// The other load ends before anybody asks, and is not counted again.
TEST(Slots, TellWhatFailedThoughOthersCameLater) {
  const Device device({DeviceChoice::host, 2});
  const std::vector<EdgeIndex> offsets{0, 1, 2};
  const auto plan = PartitionPlan::of_count(offsets, {}, 2);
  ASSERT_EQ(plan.size(), 2u);
  const FailingEdges edges;
  PageSources sources;
  sources.file = &edges;
  Slots slots(device, offsets, plan, {}, sources, {2, 0});

  slots.begin(0, 0);
  slots.begin(1, 1);
  std::this_thread::sleep_for(200ms);

  EXPECT_THROW(slots.wait(), RunError);
}

/// One partition has many short lists, the other few long ones: a slot holds either, not the most of both.
TEST(Slots, TakeOfCodedListsWhatThePlanSays) {
  constexpr std::uint64_t kShort = 20'000, kLong = 40, kDegree = 1000;
  const Device device({DeviceChoice::host, 2});
  std::vector<EdgeIndex> offsets{0};
  std::vector<Vertex> targets;
  for (std::uint64_t v = 0; v < kShort + kLong; ++v) {
    const std::uint64_t degree = v < kShort ? v % 2 : kDegree;
    for (std::uint64_t i = 0; i < degree; ++i) targets.push_back(static_cast<Vertex>(7 * i));
    offsets.push_back(targets.size());
  }
  const CsrView graph{kShort + kLong, targets.size(), offsets.data(), targets.data()};
  const CodedSizes sizes(graph, 2, false);
  const auto coded = CodedGraph::of(device, graph, sizes, nullptr);
  ASSERT_TRUE(coded);
  const HostArray<EdgeIndex> words = sizes.offsets();
  const auto plan = PartitionPlan::of_count(words.span(), {sizeof(std::uint32_t), sizeof(std::uint32_t)}, 2);
  PageColumns columns;
  columns.coded = true;
  PageSources sources;
  sources.coded = &*coded;
  const std::uint64_t before = device.memory().used();

  Slots slots(device, offsets, plan, columns, sources, {2, 0});

  const std::uint64_t look_up = DeviceOwnership(device, plan.ranges(), "the same").bytes();
  EXPECT_LE(device.memory().used() - before - look_up, bytes_of_slots(plan, 2));
}

}  // namespace
}  // namespace sluice::test
