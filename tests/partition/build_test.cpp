#include "partition/build.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "engine/core/error.hpp"
#include "partition/radix_sort.hpp"

namespace sluice {
namespace {

struct Columns {
  std::vector<Vertex> source, target;
  std::vector<float> weight;
  std::vector<std::int64_t> time;
};

/// A random multigraph; with `hub`, nine edges in ten leave vertex 0.
Columns random_columns(std::uint64_t vertices, std::size_t edges, bool hub, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  Columns columns;
  for (std::size_t i = 0; i < edges; ++i) {
    columns.source.push_back(hub && random() % 10 ? 0 : static_cast<Vertex>(random() % vertices));
    columns.target.push_back(static_cast<Vertex>(random() % vertices));
    columns.weight.push_back(static_cast<float>(i));
    columns.time.push_back(static_cast<std::int64_t>(random()));
  }
  return columns;
}

/// Positions of the input in the order that rows must have.
std::vector<std::size_t> expected_order(const std::vector<Vertex>& source,
                                        const std::vector<Vertex>& target) {
  std::vector<std::size_t> order(source.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(source[a], target[a]) < std::tie(source[b], target[b]);
  });
  return order;
}

void expect_rows(const Csr& csr, std::uint64_t vertices, const std::vector<Vertex>& source,
                 const std::vector<Vertex>& target, const Columns& payload) {
  const auto order = expected_order(source, target);
  ASSERT_EQ(csr.vertices(), vertices);
  ASSERT_EQ(csr.edges(), source.size());
  std::vector<EdgeIndex> degree(vertices);
  for (const Vertex v : source) ++degree[v];
  EdgeIndex sum = 0;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    ASSERT_EQ(csr.offsets[v], sum) << "vertex " << v;
    sum += degree[v];
  }
  ASSERT_EQ(csr.offsets[vertices], sum);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(csr.targets[i], target[order[i]]) << "position " << i;
    if (!csr.weights.empty()) {
      ASSERT_EQ(csr.weights[i], payload.weight[order[i]]) << "position " << i;
    }
    if (!csr.times.empty()) {
      ASSERT_EQ(csr.times[i], payload.time[order[i]]) << "position " << i;
    }
  }
}

class BuildCsr : public testing::TestWithParam<std::tuple<std::uint64_t, std::size_t, bool, unsigned>> {};

TEST_P(BuildCsr, EqualsAStableSortWithEveryPayload) {
  const auto [vertices, edges, hub, threads] = GetParam();
  const Columns c = random_columns(vertices, edges, hub);

  for (const bool weighted : {false, true}) {
    for (const bool timed : {false, true}) {
      const Csr csr = build_csr(vertices, c.source, c.target, weighted ? c.weight : std::vector<float>{},
                                timed ? c.time : std::vector<std::int64_t>{}, threads);

      EXPECT_EQ(csr.weights.empty(), !weighted || edges == 0);
      EXPECT_EQ(csr.times.empty(), !timed || edges == 0);
      expect_rows(csr, vertices, c.source, c.target, c);
    }
  }
}

TEST_P(BuildCsr, TransposeEqualsSwappedColumnsInRowOrder) {
  const auto [vertices, edges, hub, threads] = GetParam();
  const Columns c = random_columns(vertices, edges, hub);
  const Csr csr = build_csr(vertices, c.source, c.target, c.weight, c.time, threads);

  const Csr in = transpose(csr, threads);

  Columns sorted;
  for (const std::size_t i : expected_order(c.source, c.target)) {
    sorted.source.push_back(c.source[i]), sorted.target.push_back(c.target[i]);
    sorted.weight.push_back(c.weight[i]), sorted.time.push_back(c.time[i]);
  }
  expect_rows(in, vertices, sorted.target, sorted.source, sorted);
}

TEST_P(BuildCsr, TransposeOfARangeHasTheRowsOfTheTranspose) {
  const auto [vertices, edges, hub, threads] = GetParam();
  const Columns c = random_columns(vertices, edges, hub);
  const Csr csr = build_csr(vertices, c.source, c.target, c.weight, c.time, threads);
  const Csr all = transpose(csr);

  for (const auto& [first, last] : {std::pair<std::uint64_t, std::uint64_t>{0, vertices},
                                    {0, vertices / 3},
                                    {vertices / 3, vertices / 2 + 1},
                                    {vertices, vertices}}) {
    const Csr in = transpose_range(csr, static_cast<Vertex>(first), last, last != vertices, threads);

    const EdgeIndex begin = all.offsets[first], end = all.offsets[last];
    ASSERT_EQ(in.vertices(), vertices);
    for (std::uint64_t v = 0; v <= vertices; ++v)
      ASSERT_EQ(in.offsets[v], std::clamp(all.offsets[v], begin, end) - begin) << "offset " << v;
    ASSERT_EQ(in.edges(), end - begin);
    EXPECT_TRUE(std::equal(in.targets.begin(), in.targets.end(), all.targets.begin() + begin));
    EXPECT_TRUE(std::equal(in.weights.begin(), in.weights.end(), all.weights.begin() + begin));
    EXPECT_EQ(in.weights.empty(), last == vertices || begin == end);
    EXPECT_TRUE(in.times.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BuildCsr,
                         testing::Values(std::tuple{1, 0, false, 1u}, std::tuple{1, 5, false, 2u},
                                         std::tuple{50, 2000, false, 2u}, std::tuple{3000, 300000, false, 1u},
                                         std::tuple{3000, 300000, true, 3u},
                                         std::tuple{1u << 20, 300000, false, 2u},
                                         std::tuple{2, 200000, false, 4u}));

TEST(BuildCsrErrors, NamesTheEdgeThatLeavesTheRange) {
  const std::vector<Vertex> source{0, 1}, target{1, 2};

  EXPECT_THROW(build_csr(2, source, target), InputError);
}

TEST(RadixSort, SortsFullWidthIdsWhereverTheBitsLie) {
  std::mt19937_64 random(3);
  std::vector<EdgeRecord<false, false>> records(200000), spare(records.size());
  for (auto& record : records) {
    record.set_ends(static_cast<Vertex>(random() << (random() % 32)), static_cast<Vertex>(random()));
  }
  auto expected = records;
  const auto less = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  std::stable_sort(expected.begin(), expected.end(), less);

  sort_records(std::span(records), std::span(spare), 2);

  for (std::size_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].key(), expected[i].key()) << i;
}

}  // namespace
}  // namespace sluice
