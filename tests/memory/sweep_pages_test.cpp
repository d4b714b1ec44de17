// Lists that pass through slots: each needed partition once, with its entries, and no needless transfer.
#include "engine/memory/sweep_pages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

class SweepPagesInSlots : public testing::Test {
 protected:
  SweepPagesInSlots()
      : graph_(generated(io::GraphKind::rmat, 10, false, io::WeightRule::none)),
        pages_(device_, SweepRows(graph_.out.view()), false, {.partitions = 12, .slots = 4}) {}

  /// Requests these partitions, and returns the number of transfers for them.
  std::uint64_t pass(const std::set<std::uint32_t>& wanted) {
    const std::uint64_t before = pages_.traffic().partition_transfers;
    std::set<std::uint32_t> seen;
    pages_.for_each([&](std::uint32_t p) { return std::uint64_t{wanted.count(p)}; },
                    [&](std::span<const SweepPage> pages) {
                      for (const SweepPage& page : pages) {
                        EXPECT_TRUE(seen.insert(page.partition).second) << page.partition;
                        expect_lists(page);
                      }
                    });
    EXPECT_EQ(seen, wanted);
    return pages_.traffic().partition_transfers - before;
  }

  std::set<std::uint32_t> all() const {
    std::set<std::uint32_t> partitions;
    for (std::uint32_t p = 0; p < pages_.size(); ++p) partitions.insert(p);
    return partitions;
  }

 private:
  void expect_lists(const SweepPage& page) const {
    for (EdgeIndex e = graph_.out.offsets[page.begin]; e < graph_.out.offsets[page.end]; ++e)
      ASSERT_EQ(page.sources[e], graph_.out.targets[e]) << "partition " << page.partition;
  }

  Device device_{{DeviceChoice::host, 2}};
  Graph graph_;

 protected:
  SweepPages pages_;
};

TEST_F(SweepPagesInSlots, BringWhatIsNotHere) {
  ASSERT_EQ(pages_.size(), 12u);

  EXPECT_EQ(pass(all()), 12u);
  EXPECT_EQ(pass(all()), 8u);
  EXPECT_EQ(pass(all()), 8u);
  EXPECT_EQ(pass({}), 0u);
}

TEST_F(SweepPagesInSlots, KeepWhatIsWantedAgain) {
  EXPECT_EQ(pass({3, 5, 7}), 3u);
  EXPECT_EQ(pass({3, 5, 7}), 0u);
  EXPECT_EQ(pass({3, 5, 7, 11}), 1u);
  EXPECT_EQ(pass({3, 5, 7, 0}), 1u);  // replaces the one that is not needed any more
  EXPECT_EQ(pass({3, 5, 7, 0}), 0u);
}

TEST_F(SweepPagesInSlots, ReadNothingInPlaceOnTheHost) {
  EXPECT_EQ(pages_.choose_in_place(std::vector<ListDemand>(12, {1, 1})), std::vector<bool>(12));
  EXPECT_EQ(pages_.traffic().mapped_rounds, 0u);
}

/// Rows of one rank, whose lists contain vertices of all ranks.
TEST(CodedSweepPages, BringListsInFewerBytes) {
  const Device device({DeviceChoice::host, 2});
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  const std::uint64_t n = graph.vertices(), first = n / 3, last = n - 5;
  SweepRows rows = SweepRows::of(graph.out.view(), nullptr, false, first, last);
  const auto coded = make_coded_lists(device, rows, n);
  ASSERT_TRUE(coded);
  rows.coded = &*coded;
  SweepPages pages(device, rows, false, {.partitions = 12, .slots = 4, .transport = Transport::copied});
  ASSERT_EQ(pages.size(), 12u);

  std::uint64_t lists = 0;
  pages.for_each([](std::uint32_t) { return 1; },
                 [&](std::span<const SweepPage> present) {
                   for (const SweepPage& page : present) {
                     for (std::uint64_t row = page.begin; row < page.end; ++row, ++lists) {
                       const EdgeIndex begin = rows.csr.offsets[row];
                       const auto degree = static_cast<std::uint32_t>(rows.csr.offsets[row + 1] - begin);
                       for (std::uint32_t i = 0; i < degree; ++i)
                         ASSERT_EQ(page.coded.target(n, static_cast<Vertex>(row), i),
                                   rows.csr.targets[begin + i]);
                     }
                   }
                 });

  EXPECT_EQ(lists, last - first);
  const std::uint64_t bytes = coded->words_of(0, lists).size_bytes();
  EXPECT_EQ(pages.traffic().host_to_device_bytes, bytes);
  EXPECT_LT(bytes, rows.csr.edges * sizeof(Vertex) / 8 * 7);
}

/// Short lists are not coded, nor are lists in a file.
TEST(CodedSweepPages, AreForLongListsInMemory) {
  const Device device({DeviceChoice::host, 2});
  const Graph graph = generated(io::GraphKind::ring, 16, true, io::WeightRule::none);
  EXPECT_FALSE(make_coded_lists(device, SweepRows(graph.out.view()), graph.vertices()));
  SweepRows rows(graph.out.view());
  rows.csr.targets = nullptr;
  EXPECT_FALSE(make_coded_lists(device, rows, graph.vertices()));
}

/// A plan charges the least memory that a run needs.
TEST(PlannedSweepPages, NeedWhatARunNeeds) {
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2});
  const auto make = [&](const Device& on) {
    return SweepPages(on, SweepRows(graph.out.view()), false, {.partitions = 12}).traffic().partitions;
  };
  const std::uint64_t needed = planned_bytes(device, make), used = device.memory().used();

  device.memory().set_ceiling(used + needed);
  EXPECT_EQ(make(device), 12u);
  device.memory().set_ceiling(used + needed - 1);
  EXPECT_THROW(make(device), BudgetError);
}

/// Offsets do not describe lists that are made later, so two slots hold the longest possible list.
TEST(PlannedSweepPages, HoldTheLongestListThatMayBeMade) {
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2});
  SweepRows rows(graph.out.view());
  rows.max_degree = graph.edges() / 3;
  std::uint64_t slots = 0;

  planned_bytes(device, [&](const Device& counting) {
    const SweepPages pages(counting, rows, false, {.partitions = 12});
    slots = pages.slot_bytes();
    EXPECT_GE(counting.memory().used() - device.memory().used(), 2 * rows.max_degree * sizeof(Vertex));
  });

  EXPECT_GE(slots, 2 * (rows.max_degree + graph.edges() / 12) * sizeof(Vertex));
}

/// On the host, slots would use host memory, too. The host may read a list twice, so its reads are not
/// counted.
TEST(OpenSweepPages, ReadAllInPlaceOnTheHostAndCountNothing) {
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::uniform);
  const std::uint64_t little = graph.edges();
  const Device device({DeviceChoice::host, 1, little});
  SweepPages pages(device, SweepRows(graph.out.view()), true, {});
  ASSERT_GT(pages.size(), 1u);

  EXPECT_EQ(pages.choose_in_place(std::vector<ListDemand>(pages.size(), {1, 1})),
            std::vector<bool>(pages.size(), true));
  EXPECT_LT(device.memory().peak(), little / 2);
  EXPECT_EQ(pages.traffic().mapped_bytes, 0u);
  EXPECT_EQ(pages.traffic().mapped_rounds, 0u);
}

TEST(MappedSweepPages, CountWhatIsReadInPlace) {
  const Device device({DeviceChoice::host, 1});
  const Graph graph = generated(io::GraphKind::rmat, 10, false, io::WeightRule::uniform);
  SweepPages pages(device, SweepRows(graph.out.view()), true,
                   {.partitions = 3, .transport = Transport::mapped});
  ASSERT_EQ(pages.size(), 3u);

  EXPECT_EQ(pages.choose_in_place(std::vector<ListDemand>{{2, 30}, {0, 0}, {5, 70}}),
            (std::vector<bool>{true, false, true}));
  EXPECT_EQ(pages.choose_in_place(std::vector<ListDemand>(3)), std::vector<bool>(3));

  const SweepPage both = pages.in_place({1, 3});
  EXPECT_EQ(both.begin, pages.begin(1));
  EXPECT_EQ(both.end, graph.vertices());
  EXPECT_EQ(both.mapped(), graph.out.targets.data());
  EXPECT_EQ(pages.edges(0) + pages.edges(1) + pages.edges(2), graph.edges());
  const Traffic traffic = pages.traffic();
  EXPECT_EQ(traffic.mapped_bytes, 100 * (sizeof(Vertex) + sizeof(float)));
  EXPECT_EQ(traffic.mapped_rounds, 1u);
  EXPECT_EQ(traffic.rounds, 1u);
  EXPECT_EQ(traffic.partition_transfers, 0u);
}

}  // namespace
}  // namespace sluice::test
