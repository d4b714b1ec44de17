#include "io/generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "io/generate/edge_generator.hpp"

namespace sluice::io {
namespace {

using Edges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Edges edges_of(const GenerateOptions& options) {
  Edges edges;
  EdgeBatch batch;
  for (const auto source = make_generator(options); source->next(batch);) {
    for (std::size_t i = 0; i < batch.size(); ++i) edges.emplace_back(batch.source[i], batch.target[i]);
  }
  return edges;
}

class EveryKind : public testing::TestWithParam<GraphKind> {};

TEST_P(EveryKind, GivesTheSameEdgesForAnyThreads) {
  GenerateOptions options{GetParam(), 15, 7, 5, 1};
  const Edges one = edges_of(options);
  options.threads = 3;

  const Edges three = edges_of(options);

  EXPECT_EQ(one, three);
}

TEST_P(EveryKind, GivesAnyRangeOfEdgesByItself) {
  const GenerateOptions options{GetParam(), 10, 4, 9, 1};
  const Edges all = edges_of(options);
  const EdgeGenerator generator(options);
  std::vector<Vertex> source(100), target(100);

  generator.fill(333, source, target);

  ASSERT_EQ(generator.edges(), all.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::pair<std::uint64_t, std::uint64_t> expected(source[i], target[i]);
    EXPECT_EQ(all[333 + i], expected);
    const auto [u, v] = generator.at(333 + i);
    EXPECT_EQ((std::pair<std::uint64_t, std::uint64_t>(u, v)), expected);
  }
}

TEST_P(EveryKind, StaysInRangeAtSmallAndOddScales) {
  for (const unsigned scale : {0u, 1u, 2u, 3u, 5u, 7u}) {
    const GenerateOptions options{GetParam(), scale, 3, 2, 1};

    for (const auto& [u, v] : edges_of(options)) {
      EXPECT_LT(u, 1u << scale);
      EXPECT_LT(v, 1u << scale);
    }
    EXPECT_EQ(make_generator(options)->info().vertices, 1u << scale);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(GraphKind::rmat, GraphKind::kronecker, GraphKind::uniform,
                                         GraphKind::grid, GraphKind::ring));

/// Pearson's chi-square statistic of counts and probabilities.
double chi_square(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  double total = 0, sum = 0;
  for (const double count : counts) total += count;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

TEST(Rmat, FallsIntoEveryPairOfQuadrantsAsOftenAsItShould) {
  const unsigned scale = 18;
  const std::array<double, 4> level{0.57, 0.19, 0.19, 0.05};
  std::vector<double> probabilities;
  for (int i = 0; i < 16; ++i) probabilities.push_back(level[i / 4] * level[i % 4]);
  const Edges edges = edges_of({GraphKind::rmat, scale, 16, 11, 2});

  for (unsigned upper = scale; upper > 1; --upper) {  // levels upper and upper - 1 together
    std::vector<double> counts(16);
    for (const auto& [u, v] : edges) {
      const auto quadrant = [&](unsigned bit) { return (u >> bit & 1) * 2 + (v >> bit & 1); };
      ++counts[quadrant(upper - 1) * 4 + quadrant(upper - 2)];
    }
    EXPECT_LT(chi_square(counts, probabilities), 44.3) << "15 degrees of freedom, 1e-4; level " << upper;
  }
}

TEST(Kronecker, IsRmatUnderOneToOneLabels) {
  const Edges plain = edges_of({GraphKind::rmat, 12, 8, 4, 1});
  const Edges shuffled = edges_of({GraphKind::kronecker, 12, 8, 4, 1});
  const LabelPermutation labels(12, 4);
  std::set<Vertex> images;

  for (Vertex v = 0; v < 1u << 12; ++v) images.insert(labels(v));

  EXPECT_EQ(images.size(), 1u << 12);
  ASSERT_EQ(plain.size(), shuffled.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(labels(static_cast<Vertex>(plain[i].first)), shuffled[i].first);
    EXPECT_EQ(labels(static_cast<Vertex>(plain[i].second)), shuffled[i].second);
  }
}

TEST(Kronecker, LabelsAreOneToOneAtEveryScale) {
  for (unsigned bits = 0; bits <= 16; ++bits) {
    std::vector<bool> hit(std::size_t{1} << bits);
    const LabelPermutation labels(bits, 77);

    for (Vertex v = 0; v < hit.size(); ++v) {
      ASSERT_LT(labels(v), hit.size());
      hit[labels(v)] = true;
    }

    EXPECT_EQ(std::count(hit.begin(), hit.end(), false), 0) << bits;
  }
}

TEST(Kronecker, IsAsSkewedAsGraph500AndSpreadsItsHubs) {
  const unsigned scale = 16;
  std::vector<std::uint64_t> degree(1u << scale);
  for (const auto& [u, v] : edges_of({GraphKind::kronecker, scale, 16, 1, 2})) ++degree[u], ++degree[v];
  std::vector<std::uint32_t> order(degree.size());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;

  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return degree[a] > degree[b]; });

  const double isolated = static_cast<double>(std::count(degree.begin(), degree.end(), 0u)) / (1u << scale);
  EXPECT_NEAR(isolated, 0.28, 0.03);       // scale 16 with edge factor 16 isolates this part
  EXPECT_GT(degree[order[0]], 300 * 32u);  // the largest label's share: 2 * 0.76^16 of all ends
  EXPECT_LT(degree[order[0]], 1000 * 32u);
  std::array<int, 4> quarter{};
  for (int i = 0; i < 400; ++i) ++quarter[order[static_cast<std::size_t>(i)] >> (scale - 2)];
  for (const int hubs : quarter) EXPECT_NEAR(hubs, 100, 45);
}

TEST(Uniform, FillsEveryCellAlike) {
  std::vector<double> counts(64);
  for (const auto& [u, v] : edges_of({GraphKind::uniform, 12, 64, 3, 2})) ++counts[(u >> 9) * 8 + (v >> 9)];

  EXPECT_LT(chi_square(counts, std::vector<double>(64, 1.0 / 64)), 116.0) << "63 degrees of freedom, 5e-5";
}

TEST(Grid, JoinsEveryVertexToItsNeighboursOnce) {
  const Edges edges = edges_of({GraphKind::grid, 5, 0, 1, 1});  // 4 rows, 8 columns
  const std::set<std::pair<std::uint64_t, std::uint64_t>> found(edges.begin(), edges.end());
  std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
  for (std::uint64_t v = 0; v < 32; ++v) {
    if (v % 8 != 7) expected.emplace(v, v + 1);
    if (v / 8 != 3) expected.emplace(v, v + 8);
  }

  EXPECT_EQ(found, expected);
  EXPECT_EQ(edges.size(), expected.size());
  EXPECT_TRUE(make_generator({GraphKind::grid, 5, 0, 1, 1})->info().undirected);
}

TEST(Ring, LeadsFromEveryVertexToTheNext) {
  const Edges expected{{0, 1}, {1, 2}, {2, 3}, {3, 0}};

  EXPECT_EQ(edges_of({GraphKind::ring, 2, 0, 1, 1}), expected);
}

TEST(Generate, RefusesAScaleThatIdsCannotTellApart) {
  EXPECT_THROW(make_generator({GraphKind::rmat, 32, 1, 1, 1}), UsageError);
}

TEST(Generate, FollowsTheSeed) {
  EXPECT_NE(edges_of({GraphKind::rmat, 8, 8, 1, 1}), edges_of({GraphKind::rmat, 8, 8, 2, 1}));
  EXPECT_NE(edges_of({GraphKind::kronecker, 8, 8, 1, 1}), edges_of({GraphKind::kronecker, 8, 8, 2, 1}));
}

}  // namespace
}  // namespace sluice::io
