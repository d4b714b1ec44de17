// The host's executor: lists and sums of its threads, and its order of items.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/exec/host_executor.hpp"

namespace sluice {
namespace {

/// Appends even vertices to list 0, odd ones to list 1.
struct Split {
  template <class Lane>
  void operator()(std::uint64_t i, Lane& lane) const {
    lane.append(i % 2, static_cast<Vertex>(i));
    lane.add(1, i);
    lane.lowest(i + 7);
  }
};

struct ByLastDigit {
  unsigned key(std::uint64_t i) const { return static_cast<unsigned>(i % 10); }
  Vertex item(std::uint64_t i) const { return static_cast<Vertex>(100 + i); }
  std::uint64_t weight(std::uint64_t i) const { return i; }
};

/// Every third index has no key.
struct KeyOfIndex {
  std::uint32_t operator()(std::uint64_t i) const {
    return i % 3 == 0 ? kNoKey : static_cast<std::uint32_t>(i * 7 % 5);
  }
};

struct Counted {
  static constexpr unsigned kSums = 2;
  std::uint64_t values[kSums] = {};
  std::uint64_t value(unsigned sum) const { return values[sum]; }
};

/// Marks the index, and counts it.
struct MarkIndex {
  std::uint32_t* marks;

  template <class Group>
  bool operator()(const Group& group, std::uint64_t i, Counted& counters) const {
    ++marks[i];
    counters.values[0] += Group::kSize, counters.values[1] += group.sum(i);
    return true;
  }
};

class HostExecutorTest : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::uint64_t kCount = 20'000;

  const Device device_{{DeviceChoice::host, GetParam(), 0}};
  HostExecutor executor_{device_};
};

TEST_P(HostExecutorTest, JoinsWhatBodiesAddUp) {
  struct Totals {
    std::uint64_t sum = 0, largest = 0;
  };
  std::vector<Vertex> list(kCount);
  const std::uint64_t begin = 0;
  std::vector<unsigned long long> counts(4);
  const LaneOutput output{list.data(), &begin, counts.data(), counts.data() + 1, nullptr, 1};
  Totals totals{1, 0};

  executor_.reduce(
      kCount, output, totals,
      [](std::uint64_t i, Totals& part, HostLane& lane) {
        part = {part.sum + i, std::max(part.largest, i % 1000)};
        if (i % 4 == 0) lane.append(0, static_cast<Vertex>(i));
      },
      [](Totals& all, const Totals& part) {
        all = {all.sum + part.sum, std::max(all.largest, part.largest)};
      },
      100);

  EXPECT_EQ(totals.sum, 1 + kCount * (kCount - 1) / 2);
  EXPECT_EQ(totals.largest, 999u);
  EXPECT_EQ(counts[0], kCount / 4);
}

TEST_P(HostExecutorTest, AppendsEachVertexOnceAndAddsUp) {
  std::vector<Vertex> lists(kCount);
  const std::vector<std::uint64_t> begins{0, kCount / 2};
  std::vector<unsigned long long> counts(5);
  counts[4] = ~0ull;
  const LaneOutput output{lists.data(),      begins.data(),     counts.data(),
                          counts.data() + 2, counts.data() + 4, 2};

  executor_.for_each(kCount, output, Split{});

  EXPECT_EQ(counts,
            (std::vector<unsigned long long>{kCount / 2, kCount / 2, 0, kCount * (kCount - 1) / 2, 7}));
  std::sort(lists.begin(), lists.begin() + kCount / 2);
  std::sort(lists.begin() + kCount / 2, lists.end());
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(lists[i % 2 * kCount / 2 + i / 2], i);
}

TEST_P(HostExecutorTest, SortsByKey) {
  std::vector<Vertex> sorted(kCount);
  KeyCounts keys{{}, std::vector<std::uint64_t>(10), nullptr};

  executor_.sort_by_key(ByLastDigit{}, kCount, sorted.data(), keys);

  for (unsigned key = 0; key < 10; ++key) {
    EXPECT_EQ(keys.begins[key + 1] - keys.begins[key], kCount / 10);
    EXPECT_EQ(keys.weights[key], kCount / 10 * key + 10 * (kCount / 10) * (kCount / 10 - 1) / 2);
    for (std::uint64_t i = keys.begins[key]; i < keys.begins[key + 1]; ++i) ASSERT_EQ(sorted[i] % 10, key);
  }
}

TEST_P(HostExecutorTest, PutsTheItemsOfAKeyWhereTheCallerSays) {
  std::vector<Vertex> sorted(kCount);
  KeyCounts keys{{}, std::vector<std::uint64_t>(10), nullptr};
  const auto place = [](bool anywhere) {
    return [anywhere](const KeyCounts& known) {
      EXPECT_EQ(known.begins.back(), kCount);
      std::vector<std::uint64_t> backwards;
      for (unsigned key = 0; key < 10 && anywhere; ++key) backwards.push_back(kCount - known.begins[key + 1]);
      return backwards;
    };
  };

  executor_.sort_by_key(ByLastDigit{}, kCount, sorted.data(), keys, place(false));
  EXPECT_EQ(sorted, std::vector<Vertex>(kCount));

  executor_.sort_by_key(ByLastDigit{}, kCount, sorted.data(), keys, place(true));
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(sorted[i] % 10, 9 - i / (kCount / 10)) << i;
}

TEST_P(HostExecutorTest, OrdersByKeyStablyAndLeavesOutWhatHasNone) {
  for (const std::uint64_t count : {kCount, std::uint64_t{7}, std::uint64_t{0}}) {
    OrderedItems ordered(5, "a test");

    executor_.order_by_key(count, KeyOfIndex{}, ordered);

    std::vector<std::vector<std::uint32_t>> expected(5);
    for (std::uint64_t i = 0; i < count; ++i)
      if (i % 3 != 0) expected[KeyOfIndex{}(i)].push_back(static_cast<std::uint32_t>(i));
    for (std::uint32_t key = 0; key < 5; ++key) {
      ASSERT_EQ(ordered.counts()[key], expected[key].size());
      const std::uint32_t* const items = ordered.items.data() + ordered.begins[key];
      EXPECT_TRUE(std::equal(expected[key].begin(), expected[key].end(), items)) << key << " of " << count;
    }
    EXPECT_EQ(ordered.size(), count - (count + 2) / 3);
  }
}

TEST_P(HostExecutorTest, GivesEachIndexToAGroupAndAddsUpWhatGroupsCount) {
  std::vector<std::uint32_t> marks(kCount, 0);
  std::uint64_t sums[kGroupSums];

  executor_.for_each_group<Counted>(kCount, Groups::warps, MarkIndex{marks.data()});
  executor_.for_each_group<Counted>(3, Groups::blocks, MarkIndex{marks.data()});
  executor_.group_sums(sums);

  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(marks[i], i < 3 ? 2u : 1u);
  EXPECT_EQ(sums[0], kCount + 3);
  EXPECT_EQ(sums[1], kCount * (kCount - 1) / 2 + 3);
  executor_.group_sums(sums);
  EXPECT_EQ(sums[0], 0u);
}

TEST_P(HostExecutorTest, GivesTheIndicesOfSeveralWorksToGroups) {
  std::vector<std::uint64_t> counts(40);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 3 == 0 ? 0 : i;
  std::vector<std::vector<std::uint32_t>> marks;
  for (const std::uint64_t count : counts) marks.emplace_back(count, 0);
  std::uint64_t sums[kGroupSums];

  executor_.for_each_group_concurrently<Counted>(counts, Groups::warps_then_blocks,
                                                 [&](std::size_t i) { return MarkIndex{marks[i].data()}; });
  executor_.group_sums(sums);

  for (const auto& marked : marks) EXPECT_EQ(marked, std::vector<std::uint32_t>(marked.size(), 1));
  EXPECT_EQ(sums[0], std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

TEST_P(HostExecutorTest, SumsUpWhatIsBeforeEach) {
  std::vector<std::uint64_t> counts{3, 0, 5, 1, 99};

  EXPECT_EQ(executor_.exclusive_sum(counts.data(), 4), 9u);

  EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 3, 3, 8, 9}));
}

INSTANTIATE_TEST_SUITE_P(Threads, HostExecutorTest, testing::Values(1u, 2u, 5u));

}  // namespace
}  // namespace sluice
