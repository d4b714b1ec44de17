// Partitions that are brought to a device and evicted: the order of work, the partitions that stay, and the
// counters. Edges of a small graph show which ones were read.
#include "engine/memory/partition_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"

namespace sluice::test {
namespace {

using Partitions = std::vector<std::uint32_t>;
using Waiting = std::vector<std::uint64_t>;

constexpr std::uint64_t kLongList = 40, kList = 4;

/// Edge e leads to vertex e. Reading fails from edge `fails` on.
class CountingEdges final : public EdgeSource {
 public:
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    if (first + out.size() > fails) throw RunError("a disk that fails");
    std::iota(out.begin(), out.end(), static_cast<Vertex>(first));
    ++reads;
  }
  void read_weights(EdgeIndex, std::span<float>) const override { throw RunError("there are none"); }

  EdgeIndex fails = ~EdgeIndex{0};
  mutable std::atomic<unsigned> reads{0};
};

/// Partitions of one list each; the list of partition `longest`, if any, exceeds a usual slot.
class PartitionCacheTest : public testing::Test {
 protected:
  void open(unsigned partitions, unsigned slots, PagingOptions paging = {}, std::uint64_t longest = ~0u,
            const AccessPattern& use = {}) {
    offsets_.assign(1, 0);
    for (unsigned p = 0; p < partitions; ++p)
      offsets_.push_back(offsets_.back() + (p == longest ? kLongList : kList));
    PagedPlan plan{PartitionPlan(offsets_, {0, sizeof(Vertex)}, kList * sizeof(Vertex))};
    plan.slots = slots;
    plan.large_slots = longest < partitions ? 1 : 0;
    PageRequest request;
    if (paging.transport == Transport::mapped) {
      targets_.resize(offsets_.back());
      std::iota(targets_.begin(), targets_.end(), Vertex{0});
      request.sources.columns.targets = targets_.data();
    } else {
      request.sources.file = &edges_;
    }
    cache_.emplace(device_, offsets_, request, std::move(plan), paging, use);
    ASSERT_EQ(cache_->partitions(), partitions);
  }

  /// Does all work that waits for the present partitions, and records them.
  PartitionCache::Work work(Waiting& waiting) {
    return [&](std::span<const std::uint32_t> present) {
      for (const std::uint32_t p : present) {
        EXPECT_GT(waiting[p], 0u) << "partition " << p;
        expect_list(p);
        worked_.push_back(p);
        waiting[p] = 0;
      }
    };
  }

  void expect_list(std::uint32_t p) const {
    for (EdgeIndex e = offsets_[p]; e < offsets_[p + 1]; ++e)
      ASSERT_EQ(cache_->page(p).targets[e], e) << "partition " << p;
  }

  Partitions drain(Waiting waiting) {
    worked_.clear();
    cache_->drain(waiting, work(waiting));
    return worked_;
  }

  /// Sorted by id, since loads may complete in any order.
  Partitions sweep(const Waiting& waiting) {
    worked_.clear();
    Waiting left = waiting;
    cache_->sweep(waiting, work(left));
    std::sort(worked_.begin(), worked_.end());
    return worked_;
  }

  const Device device_{{DeviceChoice::host, 1}};
  std::vector<EdgeIndex> offsets_;
  std::vector<Vertex> targets_;
  CountingEdges edges_;
  std::optional<PartitionCache> cache_;
  Partitions worked_;
};

TEST_F(PartitionCacheTest, DrainsTheBusiestFirst) {
  open(5, 1);

  EXPECT_EQ(drain({1, 5, 0, 7, 3}), (Partitions{3, 1, 4, 0}));
}

TEST_F(PartitionCacheTest, DrainsTheSmallerOfEquallyBusyPartitionsFirst) {
  open(4, 1);

  EXPECT_EQ(drain({2, 3, 3, 2}), (Partitions{1, 2, 0, 3}));
}

TEST_F(PartitionCacheTest, DrainsWorkThatMovesOn) {
  open(3, 2);
  Waiting waiting{4, 0, 0};
  Waiting visits(3);

  cache_->drain(waiting, [&](std::span<const std::uint32_t> present) {
    for (const std::uint32_t p : present) {
      ++visits[p];
      if (visits[p] < 3) waiting[(p + 1) % 3] += waiting[p];
      waiting[p] = 0;
    }
  });

  EXPECT_EQ(visits, (Waiting{3, 2, 2}));
}

TEST_F(PartitionCacheTest, FillsManySlotsAnewWhereListsAreVisitedOnce) {
  constexpr unsigned kSlots = 16, kPartitions = 6 * kSlots;
  open(kPartitions, kSlots, {}, ~0u, {.visits_once = true});

  EXPECT_EQ(drain(Waiting(kPartitions, 1)).size(), kPartitions);

  EXPECT_EQ(cache_->traffic().partition_transfers, kPartitions);
  // At most half of the loads under way may be complete, but about five partitions are still worked on at a
  // time.
  EXPECT_LE(cache_->traffic().rounds, 20u) << "three at a time would be 28 rounds";
}

TEST_F(PartitionCacheTest, KeepsWhatHasComeForTheNextVisit) {
  open(6, 4, {}, ~0u, {.visits_once = true});

  EXPECT_EQ(drain(Waiting(6, 1)).size(), 6u);
  EXPECT_EQ(drain(Waiting(6, 1)).size(), 6u);

  EXPECT_EQ(cache_->traffic().partition_transfers, 8u) << "four are here when the second visit begins";
}

TEST_F(PartitionCacheTest, LeavesWhatIsToBeKept) {
  open(4, 1);
  Waiting waiting{9, 1, 2, 0};

  cache_->drain(waiting, work(waiting), 3);

  EXPECT_EQ(std::reduce(waiting.begin(), waiting.end()), 3u);
  EXPECT_EQ(worked_, Partitions{0}) << "the busiest partition brings the rest below";
}

TEST_F(PartitionCacheTest, SweepsEveryPartitionWithWorkOnce) {
  open(12, 4);

  EXPECT_EQ(sweep(Waiting(12, 1)).size(), 12u);
  EXPECT_EQ(sweep({0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2}), (Partitions{1, 3, 11}));
  EXPECT_TRUE(sweep(Waiting(12, 0)).empty());
}

TEST_F(PartitionCacheTest, BringsNothingThatIsHere) {
  open(6, 4);
  sweep({1, 0, 1, 0, 1, 0});
  ASSERT_EQ(edges_.reads, 3u);

  sweep({1, 0, 1, 0, 1, 0});
  EXPECT_EQ(edges_.reads, 3u);
  sweep({1, 1, 1, 0, 1, 0});
  EXPECT_EQ(edges_.reads, 4u) << "one was missing, and one slot was empty";
}

TEST_F(PartitionCacheTest, KeepsPartitionsInUseWhileOthersCome) {
  open(16, 4);
  const Waiting waiting(16, 1);
  const auto look_again = [&](std::span<const std::uint32_t> present) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const std::uint32_t p : present) expect_list(p);
  };

  cache_->sweep(waiting, look_again);
  Waiting left = waiting;
  cache_->drain(left, [&](std::span<const std::uint32_t> present) {
    look_again(present);
    left[present.front()] = 0;  // the others keep their work
  });
}

TEST_F(PartitionCacheTest, WorksOnAPartitionLargerThanAUsualSlot) {
  open(5, 2, {}, 2);
  ASSERT_TRUE(cache_->plan().partitions.oversized(2));

  EXPECT_EQ(drain({1, 2, 9, 3, 1}).size(), 5u);
  EXPECT_EQ(drain({0, 0, 1, 0, 0}), Partitions{2});
}

TEST_F(PartitionCacheTest, HoldsWhatIsWantedInPlaceOfWhatIsNot) {
  open(5, 2);

  cache_->make_resident(Partitions{1, 3});
  expect_list(1), expect_list(3);
  EXPECT_EQ(edges_.reads, 2u);
  cache_->make_resident(Partitions{3, 4});
  expect_list(3), expect_list(4);
  EXPECT_EQ(edges_.reads, 3u) << "one was here";
}

TEST_F(PartitionCacheTest, PublishesWhatIsHere) {
  open(4, 2);
  cache_->make_resident(Partitions{1, 3});

  const PageMap map = cache_->publish();

  for (const Vertex v : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(map.owner(v), v);
    EXPECT_EQ(cache_->owners().owner(v), v);
    if (v % 2 == 0) {
      EXPECT_EQ(map.slot(v), PageMap::kNoSlot) << v;
    } else {
      ASSERT_LT(map.slot(v), 2u) << v;
      EXPECT_EQ(map.pages[map.slot(v)].targets[offsets_[v]], offsets_[v]);
    }
  }
}

TEST_F(PartitionCacheTest, PublishesItemsBesideSlots) {
  open(4, 2);
  cache_->make_resident(Partitions{0, 2});

  const auto [map, items] = cache_->publish([](const PageView& page) { return page.targets; });

  for (const Vertex v : {0u, 2u}) EXPECT_EQ(items[map.slot(v)][offsets_[v]], offsets_[v]);
}

TEST_F(PartitionCacheTest, CountsWhatWasBrought) {
  open(6, 2);
  RunStats stats;
  sweep(Waiting(6, 1));

  const Traffic traffic = cache_->traffic();
  EXPECT_EQ(traffic.partitions, 6u);
  EXPECT_EQ(traffic.partition_transfers, 6u);
  EXPECT_EQ(traffic.read_bytes, 6 * kList * sizeof(Vertex));

  cache_->count(stats);
  EXPECT_EQ(stats.partitions, 6u);
  EXPECT_EQ(stats.partition_transfers, 6u);
  EXPECT_EQ(stats.read_bytes, traffic.read_bytes);
  const std::uint64_t rounds = stats.rounds;
  EXPECT_GT(rounds, 0u);
  cache_->count(stats);
  EXPECT_EQ(stats.partition_transfers, 6u) << "nothing came since";
  EXPECT_EQ(stats.rounds, rounds);
}

TEST_F(PartitionCacheTest, ReadsInPlaceWithoutBringing) {
  open(4, 2, {.transport = Transport::mapped});
  Waiting waiting(4, 1);

  cache_->drain(waiting, [&](std::span<const std::uint32_t> present) {
    for (const std::uint32_t p : present) {
      EXPECT_TRUE(cache_->in_place(p));
      expect_list(p);
      waiting[p] = 0;
    }
  });
  EXPECT_EQ(sweep({0, 1, 1, 0}), (Partitions{1, 2}));

  EXPECT_EQ(cache_->traffic().partition_transfers, 0u);
  EXPECT_EQ(cache_->traffic().mapped_rounds, 2u);
}

TEST_F(PartitionCacheTest, NeedsNoSlotsToReadInPlace) {
  open(4, 0, {.transport = Transport::mapped});

  EXPECT_EQ(sweep(Waiting(4, 1)), (Partitions{0, 1, 2, 3}));
  EXPECT_EQ(cache_->owners().owner(Vertex{3}), 3u);
}

TEST_F(PartitionCacheTest, TellsWhatFailed) {
  open(4, 2);
  edges_.fails = 2 * kList;

  EXPECT_THROW(drain(Waiting(4, 1)), RunError);
}

}  // namespace
}  // namespace sluice::test
