// Slots for partitions: what becomes of loads when one of them fails.
#include "engine/memory/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"

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

}  // namespace
}  // namespace sluice::test
