// Layers and drawn vertices on a graph in partitions in hard cases: long lists, biases that make guesses
// fail, and memory for few instances.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/memory/resident_impl.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

constexpr PagingOptions kParts{.partitions = 16, .slots = 2, .transport = Transport::copied};

/// Vertex 0 has edges to all others, which have four edges each, so one partition is one list. Each weight is
/// 300 times the next one's, so most draws hit a candidate that is already selected.
Graph steep(std::uint64_t vertices) {
  Graph graph;
  graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(vertices + 1);
  const std::uint64_t edges = (vertices - 1) * 5;
  graph.out.targets = HostArray<Vertex>(edges);
  graph.out.weights = HostArray<float>(edges);
  graph.out.offsets[0] = 0;
  EdgeIndex at = 0;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    const std::uint64_t degree = v == 0 ? vertices - 1 : 4;
    float weight = 1e6f;
    for (std::uint64_t i = 0; i < degree; ++i, ++at) {
      graph.out.targets[at] = static_cast<Vertex>(v == 0 ? i + 1 : (v + i * i) % vertices);
      graph.out.weights[at] = weight;
      weight = weight < 1 ? 1e6f : weight / 300;
    }
    graph.out.offsets[v + 1] = at;
  }
  return graph;
}

samples::Options layers(Bias bias, Select select, bool revisit, std::vector<std::uint64_t> sizes) {
  samples::Options options;
  options.kind = samples::Kind::layer, options.bias = bias, options.select = select,
  options.revisit = revisit;
  options.layer_sizes = std::move(sizes), options.seed = 7;
  return options;
}

samples::Options nodes(std::uint64_t count) {
  samples::Options options;
  options.kind = samples::Kind::node, options.count = count, options.seed = 7;
  return options;
}

/// Expects the same samples in partitions, with equally many picks, redraws and searches.
void expect_same(const Graph& graph, const Starts& starts, const samples::Options& options) {
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, kParts);
  SampleDigest expected, digest;

  const RunStats stats = sampling::run_samples(whole, starts, options, &expected);
  const RunStats in_parts = sampling::run_samples(parts, starts, options, &digest);

  EXPECT_GT(expected.edge.count(), 0u);
  EXPECT_TRUE(digest == expected);
  EXPECT_EQ(in_parts.sampled_edges, stats.sampled_edges);
  EXPECT_EQ(in_parts.selections, stats.selections);
  EXPECT_EQ(in_parts.selection_iterations, stats.selection_iterations);
  EXPECT_EQ(in_parts.collision_searches, stats.collision_searches);
}

TEST(PagedLayer, SettlesGuessesThatFail) {
  const Graph graph = steep(500);
  for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) {
    for (const Select select : {Select::bipartite, Select::repeated, Select::updated}) {
      for (const bool revisit : {false, true}) {
        SCOPED_TRACE(static_cast<int>(bias));
        SCOPED_TRACE(static_cast<int>(select));
        expect_same(graph, seed_lists(40, graph.vertices()), layers(bias, select, revisit, {3, 30, 1, 12}));
      }
    }
  }
}

TEST(PagedLayer, TakesAllCandidatesOfSmallFrontiers) {
  const Graph graph = scattered(400);
  for (const Bias bias : {Bias::none, Bias::weight, Bias::degree})
    expect_same(graph, seed_lists(30, graph.vertices()), layers(bias, Select::automatic, false, {5000, 9}));
}

TEST(PagedLayer, EndsWhereNoEdgesLead) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(4);
  graph.out.offsets[0] = 0, graph.out.offsets[1] = 1, graph.out.offsets[2] = graph.out.offsets[3] = 2;
  graph.out.targets = HostArray<Vertex>(2);
  graph.out.targets[0] = 1, graph.out.targets[1] = 2;
  for (const Bias bias : {Bias::none, Bias::degree})
    expect_same(graph, random_starts(20), layers(bias, Select::automatic, false, {2, 2, 2}));
}

TEST(PagedLayer, GraphsWithoutEdges) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(4);
  std::fill_n(graph.out.offsets.begin(), 4, EdgeIndex{0});
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph parts(device, graph, kParts);
  for (const samples::Options& options : {layers(Bias::degree, Select::automatic, false, {2, 2}), nodes(3)}) {
    const RunStats stats = sampling::run_samples(parts, random_starts(5), options, nullptr);

    EXPECT_EQ(stats.instances, 5u);
    EXPECT_EQ(stats.sampled_edges, 0u);
  }
}

TEST(PagedLayer, LargeLayersAndManyNodes) {
  const Graph graph = rmat(12, true);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, kParts);
  for (const Job& job : large_jobs(graph.vertices())) {
    const Outcome expected = job.run(whole);

    EXPECT_GT(expected.count(), 0u) << job.name;
    EXPECT_TRUE(job.run(parts) == expected) << job.name;
  }
}

TEST(PagedLayer, SharesOfTheInstancesTogetherAreTheWhole) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph, {.partitions = 1}), parts(device, graph, kParts);
  for (samples::Options options : {layers(Bias::weight, Select::automatic, false, {4, 9}), nodes(500)}) {
    SampleDigest expected, digest;
    sampling::run_samples(whole, random_starts(50), options, &expected);
    options.last_instance = 17;
    sampling::run_samples(parts, random_starts(50), options, &digest);
    options.first_instance = 17, options.last_instance = 50;
    sampling::run_samples(parts, random_starts(50), options, &digest);

    EXPECT_TRUE(digest == expected);
  }
}

TEST(PagedLayer, StaysWithinATightBudget) {
  const Graph graph = steep(20000);
  // Two slots must hold the long list and its weights. Exponents, bounds and counts need 14 bytes a vertex.
  const std::uint64_t budget = graph.vertices() * (2 * (sizeof(Vertex) + sizeof(float)) + 14) + (160u << 10);
  for (const samples::Options& options : {layers(Bias::none, Select::automatic, false, {15, 40}), nodes(600),
                                          layers(Bias::weight, Select::automatic, true, {15, 40})}) {
    Device ample({DeviceChoice::host, 2, 0}), tight({DeviceChoice::host, 2, budget});
    ResidentGraph whole(ample, graph, {.partitions = 1}),
        parts(tight, graph, {.transport = Transport::copied});
    SampleDigest expected, digest;

    sampling::run_samples(whole, random_starts(400), options, &expected);
    const RunStats stats = sampling::run_samples(parts, random_starts(400), options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_GT(stats.partitions, 4u);
    EXPECT_GT(stats.batches, 1u);
    EXPECT_LE(tight.memory().peak(), budget);
  }
}

TEST(PagedLayer, SaysWhatDoesNotFit) {
  const Graph graph = scattered(20000);
  Device device({DeviceChoice::host, 2, graph.edges()});
  ResidentGraph parts(device, graph, {.transport = Transport::copied});

  EXPECT_THROW(sampling::run_samples(parts, random_starts(3), nodes(20000), nullptr), BudgetError);
  EXPECT_THROW(sampling::run_samples(parts, random_starts(3),
                                     layers(Bias::none, Select::automatic, false, {100000}), nullptr),
               BudgetError);
}

}  // namespace
}  // namespace sluice::test
