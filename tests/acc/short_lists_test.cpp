// Lists that stay on the device while others are brought (engine/acc/rounds/short_lists.hpp).
#include "engine/acc/rounds/short_lists.hpp"

#include <gtest/gtest.h>

#include "engine/exec/host_executor.hpp"
#include "partition/graph.hpp"

namespace sluice::test {
namespace {

/// Consecutive rows with these degrees.
Csr rows_of(const std::vector<std::uint64_t>& degrees) {
  Csr rows;
  rows.offsets = HostArray<EdgeIndex>(degrees.size() + 1, "offsets");
  rows.offsets[0] = 0;
  for (std::size_t row = 0; row < degrees.size(); ++row)
    rows.offsets[row + 1] = rows.offsets[row] + degrees[row];
  rows.targets = HostArray<Vertex>(rows.offsets[degrees.size()], "targets");
  rows.weights = HostArray<float>(rows.offsets[degrees.size()], "weights");
  for (EdgeIndex e = 0; e < rows.targets.size(); ++e)
    rows.targets[e] = static_cast<Vertex>(7 * e + 1), rows.weights[e] = static_cast<float>(e) / 4;
  return rows;
}

class ShortListsOf : public testing::TestWithParam<bool> {};

TEST_P(ShortListsOf, AreCopiedAndOthersAreEmpty) {
  const bool weighted = GetParam();
  std::vector<std::uint64_t> degrees;  // more than threads process at once
  for (std::uint64_t row = 0; row < 150'000; ++row) degrees.push_back(row * row % 23);
  degrees[5] = 100'000;
  const Csr rows = rows_of(degrees);
  const Device device({DeviceChoice::host, 3, 0});
  HostExecutor executor(device);

  acc::ShortLists lists(device, rows.view(), weighted, ~std::uint64_t{0});
  lists.gather(executor, rows.offsets.data(),
               {0, 0, degrees.size(), rows.targets.data(), weighted ? rows.weights.data() : nullptr});

  ASSERT_TRUE(lists.any());
  EXPECT_EQ(lists.offsets()[0], 0u);
  const SweepPage page = lists.page();
  EXPECT_EQ(page.weights != nullptr, weighted);
  for (std::size_t row = 0; row < degrees.size(); ++row) {
    const std::uint64_t expected = degrees[row] <= acc::ShortLists::kMaxEdges ? degrees[row] : 0;
    const EdgeIndex begin = lists.offsets()[row];
    ASSERT_EQ(lists.offsets()[row + 1] - begin, expected) << "row " << row;
    for (std::uint64_t k = 0; k < expected; ++k) {
      ASSERT_EQ(page.sources[begin + k], rows.targets[rows.offsets[row] + k]);
      if (weighted) {
        ASSERT_EQ(page.weights[begin + k], rows.weights[rows.offsets[row] + k]);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Weights, ShortListsOf, testing::Bool());

TEST(ShortLists, TakeNoMoreThanTheyMay) {
  const Csr rows = rows_of({3, 20, 0, 8, 9});
  const Device device({DeviceChoice::host, 1, 0});
  constexpr std::uint64_t kBytes = 6 * sizeof(EdgeIndex) + 11 * (sizeof(Vertex) + sizeof(float));

  EXPECT_FALSE(acc::ShortLists(device, rows.view(), true, kBytes - 1).any());
  const acc::ShortLists fitting(device, rows.view(), true, kBytes);
  EXPECT_TRUE(fitting.any());
  EXPECT_EQ(fitting.bytes(), kBytes);
  EXPECT_FALSE(acc::ShortLists(device, rows_of({9, 0, 30}).view(), true, 1 << 20).any());
}

}  // namespace
}  // namespace sluice::test
