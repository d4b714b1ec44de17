// A verifier that accepts everything would pass all other tests: here it gets results with one fault each.
#include "apps/verify.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "engine/core/error.hpp"

// The program is no library: its verifier is compiled in here.
#include "apps/verify_samples.cpp"
#include "apps/verify_walks.cpp"

namespace sluice::apps {
namespace {

/// 0 -> 1, 2 (weight 0); 1 -> 2; 2 -> 0; 3 has no way on.
Graph small_graph() {
  Graph graph;
  graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(5);
  graph.out.targets = HostArray<Vertex>(4);
  graph.out.weights = HostArray<float>(4);
  std::copy_n(std::vector<EdgeIndex>{0, 2, 3, 4, 4}.begin(), 5, graph.out.offsets.begin());
  std::copy_n(std::vector<Vertex>{1, 2, 2, 0}.begin(), 4, graph.out.targets.begin());
  std::copy_n(std::vector<float>{1, 0, 1, 1}.begin(), 4, graph.out.weights.begin());
  return graph;
}

Starts starts_at(std::vector<Vertex> vertices, std::vector<std::uint64_t> offsets = {}) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = std::move(vertices);
  starts.offsets = std::move(offsets);
  return starts;
}

struct WalkCounter : WalkSink {
  void write(const WalkBatch&) override { ++batches; }
  int batches = 0;
};

struct SampleCounter : SampleSink {
  void write(const SampleBatch&) override { ++batches; }
  int batches = 0;
};

/// Is this walk from vertex `start` accepted (and handed on)?
bool accepts(const WalkOptions& like, Vertex start, const std::vector<Vertex>& walk) {
  const Graph graph = small_graph();
  const Starts starts = starts_at({start});
  WalkOptions options = like;
  options.length = static_cast<std::uint32_t>(walk.size() - 1);
  WalkCounter next;
  try {
    verify_walks(graph, starts, options, next)->write({0, 1, options.length, walk, {}, {}});
  } catch (const RunError&) {
    return false;
  }
  return next.batches == 1;
}

WalkOptions walks_of(WalkKind kind) {
  WalkOptions options;
  options.kind = kind;
  return options;
}

constexpr Vertex kEnd = kNoVertex;

TEST(VerifyWalks, AcceptsWhatIsLegal) {
  EXPECT_TRUE(accepts(walks_of(WalkKind::uniform), 0, {0, 2, 0, 1}));
  EXPECT_TRUE(accepts(walks_of(WalkKind::uniform), 3, {3, kEnd, kEnd}));
  EXPECT_TRUE(accepts(walks_of(WalkKind::biased), 0, {0, 1, 2}));
  EXPECT_TRUE(accepts(walks_of(WalkKind::metropolis_hastings), 0, {0, 0, 1}));
  EXPECT_TRUE(accepts(walks_of(WalkKind::jump), 0, {0, 3, 1}));
  EXPECT_TRUE(accepts(walks_of(WalkKind::restart), 1, {1, 2, 1}));
}

TEST(VerifyWalks, FindsAStepThatIsNoEdge) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::uniform), 0, {0, 3, kEnd}));
}

TEST(VerifyWalks, FindsAWrongStart) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::uniform), 0, {1, 2, 0}));
}

TEST(VerifyWalks, FindsAnEndThatIsNone) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::uniform), 0, {0, 1, kEnd}));
}

TEST(VerifyWalks, FindsAWalkThatGoesOnBehindItsEnd) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::uniform), 3, {3, kEnd, 0}));
}

TEST(VerifyWalks, FindsAnEdgeWithoutWeight) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::biased), 0, {0, 2, 0}));
}

TEST(VerifyWalks, FindsAStayOfTheWrongKind) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::uniform), 0, {0, 0}));
  EXPECT_FALSE(accepts(walks_of(WalkKind::metropolis_hastings), 3, {3, 3}));
}

TEST(VerifyWalks, FindsAJumpWithoutProbability) {
  auto options = walks_of(WalkKind::jump);
  options.probability = 0;

  EXPECT_FALSE(accepts(options, 0, {0, 3}));
  EXPECT_TRUE(accepts(options, 3, {3, 1}));
}

TEST(VerifyWalks, FindsARestartElsewhere) {
  EXPECT_FALSE(accepts(walks_of(WalkKind::restart), 1, {1, 2, 2}));
}

TEST(VerifyWalks, FindsAPoolThatDoesNotHoldTheSource) {
  const Graph graph = small_graph();
  const Starts starts = starts_at({0, 3}, {0, 2});
  WalkOptions options = walks_of(WalkKind::multidimensional);
  options.length = 2, options.frontier_size = 2;
  WalkCounter next;
  const auto verifier = verify_walks(graph, starts, options, next);
  const std::vector<Vertex> pool{0, 3}, right{0, 1, 1, 2}, wrong{0, 1, 0, 1}, early{0, 1, kEnd, kEnd};

  EXPECT_NO_THROW(verifier->write(WalkBatch{0, 1, 2, {}, right, pool}));
  EXPECT_THROW(verifier->write(WalkBatch{0, 1, 2, {}, wrong, pool}), RunError);
  EXPECT_THROW(verifier->write(WalkBatch{0, 1, 2, {}, early, pool}), RunError);
}

struct Edges {
  std::vector<Vertex> source, target;
  std::vector<std::int32_t> depth;
  std::vector<EdgeIndex> edge;
};

bool accepts(const SampleOptions& options, const std::vector<Vertex>& seeds, const Edges& edges,
             const std::vector<Vertex>& vertices = {}) {
  const Graph graph = small_graph();
  const Starts starts = starts_at(seeds, {0, seeds.size()});
  const std::vector<std::uint64_t> edge_counts{edges.edge.size()}, seed_counts{seeds.size()};
  const std::vector<std::uint64_t> vertex_counts{vertices.size()};
  SampleBatch batch{0,     1,  edge_counts, edges.source, edges.target, edges.depth, edges.edge, seed_counts,
                    seeds, {}, {}};
  if (options.kind == SampleKind::node) batch.vertex_counts = vertex_counts, batch.vertices = vertices;
  SampleCounter next;
  try {
    verify_samples(graph, starts, options, next)->write(batch);
  } catch (const RunError&) {
    return false;
  }
  return next.batches == 1;
}

SampleOptions neighbors(std::vector<std::int64_t> fanout) {
  SampleOptions options;
  options.fanout = std::move(fanout);
  return options;
}

TEST(VerifySamples, AcceptsWhatIsLegal) {
  EXPECT_TRUE(accepts(neighbors({-1, -1}), {0}, {{0, 0, 1, 2}, {1, 2, 2, 0}, {1, 1, 2, 2}, {0, 1, 2, 3}}));
  EXPECT_TRUE(accepts(neighbors({1}), {0, 3}, {{0}, {2}, {1}, {1}}));
}

TEST(VerifySamples, FindsAWrongPosition) {
  EXPECT_FALSE(accepts(neighbors({1}), {0}, {{0}, {2}, {1}, {0}}));
}

TEST(VerifySamples, FindsTooFewAndTooMany) {
  EXPECT_FALSE(accepts(neighbors({2}), {0}, {{0}, {2}, {1}, {1}}));
  EXPECT_FALSE(accepts(neighbors({1}), {0}, {{0, 0}, {1, 2}, {1, 1}, {0, 1}}));
}

TEST(VerifySamples, FindsARepeatedEdge) {
  EXPECT_FALSE(accepts(neighbors({2}), {0}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}));
}

TEST(VerifySamples, FindsASourceOutsideTheFrontier) {
  EXPECT_FALSE(accepts(neighbors({1}), {0}, {{1}, {2}, {1}, {2}}));
  EXPECT_FALSE(accepts(neighbors({1, 1}), {0}, {{0, 2}, {1, 0}, {1, 2}, {0, 3}}));
}

TEST(VerifySamples, FindsAVertexExpandedTwice) {
  // 2 -> 0 comes back to the seed, which must not be expanded again.
  EXPECT_TRUE(accepts(neighbors({1, 1, 1}), {2}, {{2, 0, 1}, {0, 1, 2}, {1, 2, 3}, {3, 0, 2}}));
  EXPECT_FALSE(accepts(neighbors({1, 1, 1}), {2}, {{2, 0, 2}, {0, 2, 0}, {1, 2, 3}, {3, 1, 3}}));
}

TEST(VerifySamples, FindsAWrongDepth) {
  EXPECT_FALSE(accepts(neighbors({1}), {0}, {{0}, {1}, {2}, {0}}));
}

TEST(VerifySamples, FindsAnEdgeWithoutBias) {
  auto options = neighbors({1});
  options.bias = Bias::weight;

  EXPECT_TRUE(accepts(options, {0}, {{0}, {1}, {1}, {0}}));
  EXPECT_FALSE(accepts(options, {0}, {{0}, {2}, {1}, {1}}));
}

TEST(VerifySamples, FindsALayerOfTheWrongSize) {
  SampleOptions options;
  options.kind = SampleKind::layer;
  options.layer_sizes = {2};

  EXPECT_TRUE(accepts(options, {0, 2}, {{0, 2}, {2, 0}, {1, 1}, {1, 3}}));
  EXPECT_FALSE(accepts(options, {0, 2}, {{2}, {0}, {1}, {3}}));
}

TEST(VerifySamples, CountsEveryCopyOfALayer) {
  SampleOptions options;
  options.kind = SampleKind::layer;
  options.layer_sizes = {2, 3};
  options.revisit = true;

  EXPECT_TRUE(accepts(options, {0, 1}, {{0, 1, 2, 2}, {2, 2, 0, 0}, {1, 1, 2, 2}, {1, 2, 3, 3}}));
  EXPECT_FALSE(accepts(options, {0, 1}, {{0, 1, 2}, {2, 2, 0}, {1, 1, 2}, {1, 2, 3}}));
  options.revisit = false;
  EXPECT_FALSE(accepts(options, {0, 1}, {{0, 1, 2, 2}, {2, 2, 0, 0}, {1, 1, 2, 2}, {1, 2, 3, 3}}));
}

TEST(VerifySamples, CountsRepeatedSeedsOfALayerOnce) {
  SampleOptions options;
  options.kind = SampleKind::layer;
  options.layer_sizes = {2};
  options.revisit = true;

  EXPECT_TRUE(accepts(options, {1}, {{1}, {2}, {1}, {2}}));
  EXPECT_FALSE(accepts(options, {1, 1}, {{1, 1}, {2, 2}, {1, 1}, {2, 2}}));
}

TEST(VerifySamples, FindsAMissingEdgeBetweenChosenVertices) {
  SampleOptions options;
  options.kind = SampleKind::node;
  options.count = 2;

  EXPECT_TRUE(accepts(options, {}, {{0}, {1}, {1}, {0}}, {0, 1}));
  EXPECT_FALSE(accepts(options, {}, {}, {0, 1}));
  EXPECT_FALSE(accepts(options, {}, {{0}, {1}, {1}, {0}}, {1, 0}));
}

TEST(VerifySamples, FindsARepeatedPosition) {
  SampleOptions options;
  options.kind = SampleKind::edge;
  options.count = 2;

  EXPECT_TRUE(accepts(options, {}, {{0, 2}, {1, 0}, {1, 1}, {0, 3}}));
  EXPECT_FALSE(accepts(options, {}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}));
}

}  // namespace
}  // namespace sluice::apps
