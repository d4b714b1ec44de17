// A verifier that accepts everything would pass all other tests. These tests give it results with one fault
// each, of a graph in memory and of a graph whose edges are read on demand.
#include "apps/verify/verify.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cli/verify/verify.hpp"

namespace sluice::apps {
namespace {

struct WalkCounter : WalkSink {
  void write(const WalkBatch&) override { ++batches; }
  int batches = 0;
};

struct SampleCounter : SampleSink {
  void write(const SampleBatch&) override { ++batches; }
  int batches = 0;
};

/// True if the walk from vertex `start` is accepted; it must also be passed on.
bool accepts(const walks::Options& like, Vertex start, const std::vector<Vertex>& walk) {
  const Starts starts = starts_at({start});
  walks::Options options = like;
  options.length = static_cast<std::uint32_t>(walk.size() - 1);
  return passes([&](const Graph& graph) {
    WalkCounter next;
    verify_walks(graph, starts, options, &next)->write({0, 1, options.length, walk, {}, {}});
    EXPECT_EQ(next.batches, 1);
  });
}

walks::Options walks_of(walks::Kind kind) {
  walks::Options options;
  options.kind = kind;
  return options;
}

constexpr Vertex kEnd = kNoVertex;

TEST(VerifyWalks, AcceptsWhatIsLegal) {
  EXPECT_TRUE(accepts(walks_of(walks::Kind::uniform), 0, {0, 2, 0, 1}));
  EXPECT_TRUE(accepts(walks_of(walks::Kind::uniform), 3, {3, kEnd, kEnd}));
  EXPECT_TRUE(accepts(walks_of(walks::Kind::biased), 0, {0, 1, 2}));
  EXPECT_TRUE(accepts(walks_of(walks::Kind::metropolis_hastings), 0, {0, 0, 1}));
  EXPECT_TRUE(accepts(walks_of(walks::Kind::jump), 0, {0, 3, 1}));
  EXPECT_TRUE(accepts(walks_of(walks::Kind::restart), 1, {1, 2, 1}));
}

TEST(VerifyWalks, FindsAStepThatIsNoEdge) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::uniform), 0, {0, 3, kEnd}));
}

TEST(VerifyWalks, FindsAWrongStart) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::uniform), 0, {1, 2, 0}));
}

TEST(VerifyWalks, FindsAnEndThatIsNone) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::uniform), 0, {0, 1, kEnd}));
}

TEST(VerifyWalks, FindsAWalkThatGoesOnBehindItsEnd) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::uniform), 3, {3, kEnd, 0}));
}

TEST(VerifyWalks, FindsAnEdgeWithoutWeight) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::biased), 0, {0, 2, 0}));
}

TEST(VerifyWalks, FindsAStayOfTheWrongKind) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::uniform), 0, {0, 0}));
  EXPECT_FALSE(accepts(walks_of(walks::Kind::metropolis_hastings), 3, {3, 3}));
}

TEST(VerifyWalks, FindsAJumpWithoutProbability) {
  auto options = walks_of(walks::Kind::jump);
  options.probability = 0;

  EXPECT_FALSE(accepts(options, 0, {0, 3}));
  EXPECT_TRUE(accepts(options, 3, {3, 1}));
}

TEST(VerifyWalks, FindsARestartElsewhere) {
  EXPECT_FALSE(accepts(walks_of(walks::Kind::restart), 1, {1, 2, 2}));
}

TEST(VerifyWalks, FindsAPoolThatDoesNotHoldTheSource) {
  const Starts starts = starts_at({0, 3}, {0, 2});
  walks::Options options = walks_of(walks::Kind::multidimensional);
  options.length = 2, options.frontier_size = 2;
  const std::vector<Vertex> pool{0, 3};
  const auto holds = [&](const std::vector<Vertex>& edges) {
    return passes([&](const Graph& graph) {
      WalkCounter next;
      verify_walks(graph, starts, options, &next)->write({0, 1, 2, {}, edges, pool});
    });
  };

  EXPECT_TRUE(holds({0, 1, 1, 2}));
  EXPECT_FALSE(holds({0, 1, 0, 1}));
  EXPECT_FALSE(holds({0, 1, kEnd, kEnd}));
  EXPECT_FALSE(holds({0, 3, kEnd, kEnd}));
}

/// Hand-made walks on a ring with chords of weight 0: v -> v + 1, and v -> v + 2 with weight 0.
TEST(VerifyWalks, FindsOneWrongStepAmongManyWithinAFewPages) {
  constexpr Vertex kVertices = 50'000;
  constexpr std::uint32_t kLength = 7;
  Csr rows;
  rows.offsets = HostArray<EdgeIndex>(kVertices + 1);
  rows.targets = HostArray<Vertex>(2 * kVertices);
  rows.weights = HostArray<float>(2 * kVertices);
  for (Vertex v = 0; v <= kVertices; ++v) rows.offsets[v] = 2 * v;
  for (Vertex v = 0; v < kVertices; ++v) {
    const Vertex next = (v + 1) % kVertices, second = (v + 2) % kVertices;
    rows.targets[2 * v] = std::min(next, second), rows.targets[2 * v + 1] = std::max(next, second);
    rows.weights[2 * v] = next < second ? 1 : 0, rows.weights[2 * v + 1] = next < second ? 0 : 1;
  }
  Graph memory;
  memory.weighted = true;
  memory.out = std::move(rows);
  Starts starts;
  starts.mode = Starts::Mode::per_vertex;
  walks::Options options = walks_of(walks::Kind::biased);
  options.length = kLength;
  std::vector<Vertex> right;
  for (Vertex v = 0; v < kVertices; ++v) {
    for (Vertex step = 0; step <= kLength; ++step) right.push_back((v + step) % kVertices);
  }
  const auto expect_checked = [&](const Graph& graph, unsigned threads) {
    SCOPED_TRACE(threads);
    std::vector<Vertex> walks = right;
    WalkCounter next;
    const std::uint64_t ceiling = host_budget().ceiling();
    host_budget().set_ceiling(host_budget().used() + (200u << 10));
    const auto verifier = verify_walks(graph, starts, options, &next, threads);
    EXPECT_NO_THROW(verifier->write({0, kVertices, kLength, walks, {}, {}}));
    const std::size_t wrong = 41'234 * (kLength + 1) + kLength;
    walks[wrong] = (walks[wrong] + 1) % kVertices;
    try {
      verifier->write({0, kVertices, kLength, walks, {}, {}});
      ADD_FAILURE() << "an edge without weight was not seen";
    } catch (const RunError& fault) {
      EXPECT_TRUE(std::string(fault.what()).starts_with("verify: instance 41234, step 7: ")) << fault.what();
    }
    EXPECT_EQ(next.batches, 1);
    host_budget().set_ceiling(ceiling);
  };
  for (const unsigned threads : {1u, 3u}) expect_checked(memory, threads);
  const Graph file = test::elsewhere(std::move(memory));
  for (const unsigned threads : {1u, 3u}) expect_checked(file, threads);
}

/// Each vertex of a ring has both its neighbours.
TEST(VerifySamples, FindOneWrongEdgeAmongManySamples) {
  constexpr Vertex kVertices = 20'000;
  Graph memory;
  memory.out.offsets = HostArray<EdgeIndex>(kVertices + 1);
  memory.out.targets = HostArray<Vertex>(2 * kVertices);
  for (Vertex v = 0; v <= kVertices; ++v) memory.out.offsets[v] = 2 * v;
  for (Vertex v = 0; v < kVertices; ++v) {
    const Vertex next = (v + 1) % kVertices, last = (v + kVertices - 1) % kVertices;
    memory.out.targets[2 * v] = std::min(next, last), memory.out.targets[2 * v + 1] = std::max(next, last);
  }
  std::vector<Vertex> source, seeds;
  for (Vertex v = 0; v < kVertices; ++v) source.insert(source.end(), {v, v}), seeds.push_back(v);
  const std::vector<Vertex> right(memory.out.targets.begin(), memory.out.targets.end());
  std::vector<EdgeIndex> edge(2 * kVertices);
  std::iota(edge.begin(), edge.end(), EdgeIndex{0});
  const std::vector<std::int32_t> depth(2 * kVertices, 1);
  const std::vector<std::uint64_t> edge_counts(kVertices, 2), seed_counts(kVertices, 1);
  Starts starts;
  starts.mode = Starts::Mode::per_vertex;
  samples::Options options;
  options.kind = samples::Kind::neighbor;
  options.fanout = {2};
  const auto expect_checked = [&](const Graph& graph, unsigned threads) {
    SCOPED_TRACE(threads);
    std::vector<Vertex> target = right, begins = seeds;
    SampleCounter next;
    const auto verifier = verify_samples(graph, starts, options, &next, threads);
    const auto write = [&] {
      verifier->write({0, kVertices, edge_counts, source, target, depth, edge, seed_counts, begins, {}, {}});
    };
    const auto expect_fault = [&](const char* instance) {
      try {
        write();
        ADD_FAILURE() << "not seen: " << instance;
      } catch (const RunError& fault) {
        EXPECT_TRUE(std::string(fault.what()).starts_with(instance)) << fault.what();
      }
    };
    EXPECT_NO_THROW(write());
    std::swap(target[2 * 12'345], target[2 * 12'345 + 1]);
    expect_fault("verify: instance 12345: ");
    target = right;
    begins[17'001] = 3;
    expect_fault("verify: instance 17001: ");
    EXPECT_EQ(next.batches, 1);
  };
  for (const unsigned threads : {1u, 3u}) expect_checked(memory, threads);
  const Graph file = test::elsewhere(std::move(memory));
  for (const unsigned threads : {1u, 3u}) expect_checked(file, threads);
}

struct Edges {
  std::vector<Vertex> source, target;
  std::vector<std::int32_t> depth;
  std::vector<EdgeIndex> edge;
};

bool accepts(const samples::Options& options, const std::vector<Vertex>& seeds, const Edges& edges,
             const std::vector<Vertex>& vertices = {}) {
  const Starts starts = starts_at(seeds, {0, seeds.size()});
  const std::vector<std::uint64_t> edge_counts{edges.edge.size()}, seed_counts{seeds.size()};
  const std::vector<std::uint64_t> vertex_counts{vertices.size()};
  SampleBatch batch{0,     1,  edge_counts, edges.source, edges.target, edges.depth, edges.edge, seed_counts,
                    seeds, {}, {}};
  if (options.kind == samples::Kind::node) batch.vertex_counts = vertex_counts, batch.vertices = vertices;
  return passes([&](const Graph& graph) {
    SampleCounter next;
    verify_samples(graph, starts, options, &next)->write(batch);
    EXPECT_EQ(next.batches, 1);
  });
}

samples::Options neighbors(std::vector<std::int64_t> fanout) {
  samples::Options options;
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
  // Edge 2 -> 0 reaches the seed again, which must not be expanded twice.
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
  options.fanout = {2};  // but only one of the two can be drawn
  EXPECT_TRUE(accepts(options, {0}, {{0}, {1}, {1}, {0}}));
  options.bias = Bias::degree;
  EXPECT_FALSE(accepts(options, {0}, {{0}, {1}, {1}, {0}}));
}

TEST(VerifySamples, FindsALayerOfTheWrongSize) {
  samples::Options options;
  options.kind = samples::Kind::layer;
  options.layer_sizes = {2};

  EXPECT_TRUE(accepts(options, {0, 2}, {{0, 2}, {2, 0}, {1, 1}, {1, 3}}));
  EXPECT_FALSE(accepts(options, {0, 2}, {{2}, {0}, {1}, {3}}));
}

TEST(VerifySamples, CountsEveryCopyOfALayer) {
  samples::Options options;
  options.kind = samples::Kind::layer;
  options.layer_sizes = {2, 3};
  options.revisit = true;

  EXPECT_TRUE(accepts(options, {0, 1}, {{0, 1, 2, 2}, {2, 2, 0, 0}, {1, 1, 2, 2}, {1, 2, 3, 3}}));
  EXPECT_FALSE(accepts(options, {0, 1}, {{0, 1, 2}, {2, 2, 0}, {1, 1, 2}, {1, 2, 3}}));
  options.revisit = false;
  EXPECT_FALSE(accepts(options, {0, 1}, {{0, 1, 2, 2}, {2, 2, 0, 0}, {1, 1, 2, 2}, {1, 2, 3, 3}}));
}

TEST(VerifySamples, CountsRepeatedSeedsOfALayerOnce) {
  samples::Options options;
  options.kind = samples::Kind::layer;
  options.layer_sizes = {2};
  options.revisit = true;

  EXPECT_TRUE(accepts(options, {1}, {{1}, {2}, {1}, {2}}));
  EXPECT_FALSE(accepts(options, {1, 1}, {{1, 1}, {2, 2}, {1, 1}, {2, 2}}));
}

TEST(VerifySamples, FindsAMissingEdgeBetweenChosenVertices) {
  samples::Options options;
  options.kind = samples::Kind::node;
  options.count = 2;

  EXPECT_TRUE(accepts(options, {}, {{0}, {1}, {1}, {0}}, {0, 1}));
  EXPECT_FALSE(accepts(options, {}, {}, {0, 1}));
  EXPECT_FALSE(accepts(options, {}, {{0}, {1}, {1}, {0}}, {1, 0}));
}

TEST(VerifySamples, FindsARepeatedPosition) {
  samples::Options options;
  options.kind = samples::Kind::edge;
  options.count = 2;

  EXPECT_TRUE(accepts(options, {}, {{0, 2}, {1, 0}, {1, 1}, {0, 3}}));
  EXPECT_FALSE(accepts(options, {}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}));
}

}  // namespace
}  // namespace sluice::apps
