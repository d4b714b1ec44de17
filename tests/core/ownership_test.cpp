#include "engine/core/ownership.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice {
namespace {

/// Expects every vertex to have exactly the owner whose range contains it.
void expect_owners(const Ownership& owners) {
  for (std::uint64_t i = 0; i < owners.size(); ++i) {
    ASSERT_EQ(owners.count(i), owners.end(i) - owners.begin(i));
    for (std::uint64_t v = owners.begin(i); v < owners.end(i); ++v) {
      ASSERT_EQ(owners.owner(static_cast<Vertex>(v)), i) << "vertex " << v;
      ASSERT_EQ(owners.owner(v), i) << "edge " << v;
    }
  }
}

TEST(Ownership, HasNoOwnersAtFirst) {
  EXPECT_EQ(Ownership().size(), 0u);
  EXPECT_EQ(Ownership().vertices(), 0u);
}

TEST(Ownership, GivesOneOwnerAll) {
  const Ownership owners({0, 1000});

  EXPECT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners.vertices(), 1000u);
  expect_owners(owners);
}

TEST(Ownership, FindsFirstAndLastVerticesOfRanges) {
  const Ownership owners({0, 3, 4, 100'000, 100'001});

  for (std::uint64_t i = 0; i < owners.size(); ++i) {
    EXPECT_EQ(owners.owner(owners.begin(i)), i);
    EXPECT_EQ(owners.owner(owners.end(i) - 1), i);
  }
}

TEST(Ownership, GivesEmptyRangesNothing) {
  const Ownership owners({0, 0, 5, 5, 5, 9, 9});

  EXPECT_EQ(owners.size(), 6u);
  EXPECT_EQ(owners.count(0), 0u);
  EXPECT_EQ(owners.count(3), 0u);
  EXPECT_EQ(owners.count(5), 0u);
  EXPECT_EQ(owners.owner(Vertex{0}), 1u);
  EXPECT_EQ(owners.owner(Vertex{4}), 1u);
  EXPECT_EQ(owners.owner(Vertex{5}), 4u);
  EXPECT_EQ(owners.owner(Vertex{8}), 4u);
}

TEST(Ownership, FindsTheOwnerAmongManyEqualBoundaries) {
  std::vector<std::uint64_t> begins(2000, 7);
  begins.front() = 0, begins.back() = 8;
  const Ownership owners(begins);

  EXPECT_EQ(owners.owner(Vertex{6}), 0u);
  EXPECT_EQ(owners.owner(Vertex{7}), 1998u);
}

TEST(Ownership, HasRangesWithoutVertices) {
  const Ownership owners({0, 0, 0});

  EXPECT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners.vertices(), 0u);
}

TEST(Ownership, FindsOwnersOfRandomRanges) {
  std::mt19937_64 random(3);
  for (const std::uint64_t longest : {1u, 3u, 50u, 4000u}) {
    std::vector<std::uint64_t> begins{0};
    for (unsigned i = 0; i < 40; ++i) begins.push_back(begins.back() + random() % (longest + 1));
    expect_owners(Ownership(begins));
  }
}

TEST(Ownership, FindsOwnersOfEdgesBeyond32Bits) {
  const EdgeIndex end = EdgeIndex{1} << 40;
  const Ownership owners({0, end - 5, end});

  EXPECT_EQ(owners.owner(end - 6), 0u);
  EXPECT_EQ(owners.owner(end - 5), 1u);
  EXPECT_EQ(owners.owner(end - 1), 1u);
}

TEST(Ownership, FindsTheLargestVertex) {
  const std::uint64_t last = std::numeric_limits<Vertex>::max();
  const Ownership owners({0, last, last + 1});

  EXPECT_EQ(owners.owner(static_cast<Vertex>(last)), 1u);
  EXPECT_EQ(owners.owner(static_cast<Vertex>(last - 1)), 0u);
}

TEST(Ownership, GivesNewVerticesToTheLastOwner) {
  Ownership owners({0, 3, 5});

  owners.grow(100);

  EXPECT_EQ(owners.vertices(), 100u);
  EXPECT_EQ(owners.count(1), 97u);
  expect_owners(owners);
}

TEST(Ownership, SharesOutEvenly) {
  for (const std::uint64_t items : {0u, 1u, 5u, 64u, 1001u}) {
    const Ownership owners = Ownership::even(items, 7);

    ASSERT_EQ(owners.size(), 7u);
    EXPECT_EQ(owners.vertices(), items);
    for (std::uint64_t i = 0; i < 7; ++i) {
      EXPECT_GE(owners.count(i), items / 7);
      EXPECT_LE(owners.count(i), items / 7 + 1);
    }
    expect_owners(owners);
  }
}

TEST(Ownership, AnswersAlikeFromACopyOfItsArrays) {
  const Ownership owners({0, 10, 10, 300, 301, 5000});
  const std::vector<std::uint64_t> begins(owners.begins().begin(), owners.begins().end());
  const std::vector<std::uint32_t> bucket_owners(owners.bucket_owners().begin(),
                                                 owners.bucket_owners().end());
  const OwnershipView view{begins.data(), bucket_owners.data(), owners.view().shift};

  for (Vertex v = 0; v < owners.vertices(); ++v) ASSERT_EQ(view.owner(v), owners.owner(v));
}

}  // namespace
}  // namespace sluice
