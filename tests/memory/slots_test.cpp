// Slots for partitions: what is loaded into them, and other loads if one fails.
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

/// Fails at the first edge, and delivers all others later.
class FailingEdges final : public EdgeSource {
 public:
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    if (first == 0) throw RunError("a disk that fails");
    std::this_thread::sleep_for(50ms);
    std::fill(out.begin(), out.end(), Vertex{0});
  }
  void read_weights(EdgeIndex, std::span<float>) const override { throw RunError("there are none"); }
};

/// The other load ends before wait() is called, and must not hide the failure.
TEST(Slots, TellWhatFailedThoughOthersCameLater) {
  const Device device({DeviceChoice::host, 2});
  const std::vector<EdgeIndex> offsets{0, 1, 2};
  const auto plan = PartitionPlan::of_count(offsets, {}, 2);
  ASSERT_EQ(plan.size(), 2u);
  const FailingEdges edges;
  PageSources sources;
  sources.file = &edges;
  Slots slots(device, offsets, plan, {}, sources, {2, 0});

  slots.begin_load(0, 0);
  slots.begin_load(1, 1);
  std::this_thread::sleep_for(200ms);

  EXPECT_THROW(slots.wait(), RunError);
}

constexpr std::uint64_t kEdges = 100;

Vertex target_of(EdgeIndex e) {
  return static_cast<Vertex>(3 * e + 1);
}
float weight_of(EdgeIndex e) {
  return static_cast<float>(e) + 0.5f;
}

class CountedEdges final : public EdgeSource {
 public:
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    for (Vertex& target : out) target = target_of(first++);
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override {
    for (float& weight : out) weight = weight_of(first++);
  }
};

/// A table of a list's edges that needs both columns.
std::uint64_t sum_of(EdgeIndex e, Vertex target, float weight) {
  return 1000 * e + target + static_cast<std::uint64_t>(2 * weight);
}

struct SourceCase {
  bool file, keep, weights;  ///< weights: are a column themselves
};

class SlotsSources : public testing::TestWithParam<SourceCase> {};

/// A partition that is brought again is read again, unless it is kept.
TEST_P(SlotsSources, BringAndDeriveAllColumns) {
  const auto [file, keep, weights] = GetParam();
  const Device device({DeviceChoice::host, 2});
  const std::vector<EdgeIndex> offsets{0, 20, 50, 90, kEdges};
  const auto plan = PartitionPlan::of_count(offsets, {0, 1}, 2);
  std::vector<Vertex> targets(kEdges);
  std::vector<float> all_weights(kEdges);
  const CountedEdges edges;
  edges.read_targets(0, targets), edges.read_weights(0, all_weights);
  const CsrView lists{offsets.size() - 1, kEdges, offsets.data(), file ? nullptr : targets.data(),
                      file ? nullptr : all_weights.data()};
  PageSources sources = PageSources::of(lists, file ? &edges : nullptr, true);
  sources.host_cache = keep;
  sources.derive = [&](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    for (EdgeIndex e = offsets[begin]; e < offsets[end]; ++e)
      page.cumulative[e] = sum_of(e, page.targets[e], page.weights[e]);
  };
  PageColumns columns;
  columns.weights = weights, columns.cumulative = true;
  Slots slots(device, offsets, plan, columns, sources, {1, 0});

  for (const std::uint32_t partition : {0u, 1u, 0u}) {
    slots.begin_load(0, partition);
    slots.wait();
    const PageView& page = slots.page(partition);
    for (EdgeIndex e = offsets[plan.begin(partition)]; e < offsets[plan.end(partition)]; ++e) {
      ASSERT_EQ(page.targets[e], target_of(e));
      ASSERT_EQ(page.cumulative[e], sum_of(e, target_of(e), weight_of(e)));
      ASSERT_EQ(weights ? page.weights[e] : weight_of(e), weight_of(e));
    }
    slots.drop(partition);
  }
  const std::uint64_t first = offsets[plan.end(0)], read = keep ? kEdges : kEdges + first;
  EXPECT_EQ(slots.counters().read_bytes, file ? read * (sizeof(Vertex) + sizeof(float)) : 0);
  EXPECT_EQ(slots.counters().transfers, 3u);
}

INSTANTIATE_TEST_SUITE_P(Cells, SlotsSources,
                         testing::Values(SourceCase{false, false, false}, SourceCase{false, false, true},
                                         SourceCase{true, false, false}, SourceCase{true, false, true},
                                         SourceCase{true, true, false}, SourceCase{true, true, true}));

/// One partition has many short lists, the other few long ones. A slot is as large as the larger partition,
/// not as the sum of each maximum.
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
  const auto plan = PartitionPlan::of_count(words.span(), {0, sizeof(std::uint32_t)}, 2);
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
