// Places of edges in a set: no two edges share a place, and a set knows which lists it covers.
#include "engine/graph/edge_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sluice {
namespace {

/// The set of a graph with given sizes only; all edges leave vertex 0.
EdgeSet shape(std::uint64_t vertices, std::uint64_t edges, bool undirected) {
  std::vector<EdgeIndex> offsets(vertices + 1, edges);
  offsets[0] = 0;
  return EdgeSet::of({{vertices, edges, offsets.data(), nullptr, nullptr}, nullptr, undirected}, 0, vertices);
}

TEST(EdgeSet, HasAPlaceForEachEdge) {
  constexpr Vertex kVertices = 300;
  const EdgeSet set = shape(kVertices, 1, false);
  std::set<std::pair<std::uint64_t, std::uint32_t>> places;

  for (Vertex u = 0; u < kVertices; ++u) {
    for (Vertex v = 0; v < kVertices; ++v) {
      const EdgeSet::Location at = set.locate(u, v);
      ASSERT_LT(at.bucket, set.size);
      ASSERT_LT(at.tag, 1u << EdgeSet::kTagBits);
      EXPECT_TRUE(places.emplace(at.bucket, at.tag).second) << u << " -> " << v;
    }
  }
}

/// With this many vertices, exactness alone determines the number of buckets: keys have 38 bits, and so have
/// places. A function that is not invertible would map some of 2^21 keys to one place.
TEST(EdgeSet, TellsEdgesApartWithTheFewestBuckets) {
  constexpr std::uint64_t kVertices = (1 << 19) - 1, kKeys = 1 << 21;
  const EdgeSet set = shape(kVertices, 1, false);
  ASSERT_EQ(set.size, 1u << (2 * 19 - EdgeSet::kTagBits));
  std::unordered_map<std::uint64_t, std::uint64_t> key_at;
  std::mt19937_64 random(1);

  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const Vertex u = static_cast<Vertex>(random() % kVertices), v = static_cast<Vertex>(random() % kVertices);
    const EdgeSet::Location at = set.locate(u, v);
    const std::uint64_t key = std::uint64_t{u} << 32 | v;
    const auto [known, fresh] = key_at.emplace(at.bucket << EdgeSet::kTagBits | at.tag, key);
    ASSERT_TRUE(fresh || known->second == key) << u << " -> " << v;
  }
}

TEST(EdgeSet, HoldsVerticesOf32Bits) {
  EdgeSet set;
  set.size = std::uint64_t{1} << 33, set.vertex_bits = 32;

  const EdgeSet::Location last = set.locate(0xfffffffe, 0xfffffffe),
                          other = set.locate(0xfffffffe, 0xfffffffd);

  EXPECT_LT(last.bucket, set.size);
  EXPECT_NE(std::tuple(last.bucket, last.tag), std::tuple(other.bucket, other.tag));
}

TEST(EdgeSet, HasAnUndirectedEdgeOnce) {
  const EdgeSet directed = shape(1000, 1, false), undirected = shape(1000, 1, true);
  const auto at = [](const EdgeSet& set, Vertex u, Vertex v) {
    return std::tuple(set.locate(u, v).bucket, set.locate(u, v).tag);
  };

  EXPECT_EQ(at(undirected, 3, 700), at(undirected, 700, 3));
  EXPECT_NE(at(directed, 3, 700), at(directed, 700, 3));
}

TEST(EdgeSet, LeavesHalfOfItsTagsFree) {
  constexpr std::uint64_t kEdges = 1'000'000;

  EXPECT_NEAR(static_cast<double>(shape(1000, kEdges, false).size * EdgeSet::kTags), 2.0 * kEdges, 10);
  EXPECT_NEAR(static_cast<double>(shape(1000, kEdges, true).size * EdgeSet::kTags), 1.0 * kEdges, 10);
}

TEST(EdgeSet, KnowsNothingWithoutLists) {
  EXPECT_EQ(EdgeSet().has_edge(0, 1), Answer::unknown);
  EXPECT_EQ(shape(0, 0, false).has_edge(0, 1), Answer::unknown);
}

/// The set covers vertices [10, 20), and has one edge.
TEST(EdgeSet, SpeaksForItsListsAlone) {
  EdgeSet set = shape(100, 1, false);
  set.begin = 10, set.end = 20;
  std::vector<EdgeSet::Bucket> buckets(
      set.size, {EdgeSet::kFree, EdgeSet::kFree, EdgeSet::kFree, EdgeSet::kFree, EdgeSet::kFree,
                 EdgeSet::kFree, EdgeSet::kFree, EdgeSet::kFree});
  set.buckets = buckets.data();
  const EdgeSet::Location at = set.locate(12, 50);
  buckets[at.bucket].tags[5] = at.tag;

  EXPECT_EQ(set.has_edge(12, 50), Answer::yes);
  EXPECT_EQ(set.has_edge(12, 51), Answer::no);
  EXPECT_EQ(set.has_edge(9, 12), Answer::unknown);
  EXPECT_EQ(set.has_edge(20, 12), Answer::unknown);
  set.undirected = true;
  EXPECT_EQ(set.has_edge(50, 12), Answer::yes);
  EXPECT_EQ(set.has_edge(9, 12), Answer::no);
  EXPECT_EQ(set.has_edge(9, 20), Answer::unknown);

  buckets[at.bucket].tags[EdgeSet::kTags - 1] = EdgeSet::kOverflowed;
  EXPECT_EQ(set.has_edge(12, 50), Answer::yes);
  const auto in_bucket = [&](Vertex v) { return set.locate(12, v).bucket == at.bucket && v != 50; };
  Vertex other = 13;
  while (!in_bucket(other)) ++other;
  EXPECT_EQ(set.has_edge(12, other), Answer::unknown);
}

}  // namespace
}  // namespace sluice
