// Layer samples at the limits of their biases, and user-defined ones.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "samples/layer_samplers.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// One vertex with `loops` self-loops: the biases of its list by degree sum to the square of `loops`.
Graph knot(std::uint64_t loops) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(2);
  graph.out.offsets[0] = 0, graph.out.offsets[1] = loops;
  graph.out.targets = HostArray<Vertex>(loops);
  std::fill_n(graph.out.targets.begin(), loops, Vertex{0});
  return graph;
}

TEST(Layer, SaysWhenBiasesOfManyCopiesPassTheLargestSum) {
  constexpr std::uint64_t kMost = 2642245;  // the largest number whose cube is below 2^64
  const Graph below = knot(kMost), above = knot(kMost + 1);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph fits(device, below), does_not(device, above);
  const PagingOptions in_parts{.transport = Transport::copied};
  ResidentGraph fits_in_parts(device, below, in_parts), does_not_in_parts(device, above, in_parts);
  samples::Options options;
  options.kind = samples::Kind::layer, options.bias = Bias::degree, options.revisit = true;
  options.layer_sizes = {kMost + 1, 5};  // layer 1 draws every loop; each is then a copy
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = {0};

  EXPECT_EQ(sampling::run_samples(fits, starts, options, nullptr).sampled_edges, kMost + 5);
  EXPECT_EQ(sampling::run_samples(fits_in_parts, starts, options, nullptr).sampled_edges, kMost + 5);
  EXPECT_THROW(sampling::run_samples(does_not, starts, options, nullptr), RunError);
  EXPECT_THROW(sampling::run_samples(does_not_in_parts, starts, options, nullptr), RunError);
  options.revisit = false;
  EXPECT_EQ(sampling::run_samples(does_not, starts, options, nullptr).sampled_edges, kMost + 1);
}

template <class Sampler>
SampleDigest digest_of(ResidentGraph& graph, const Sampler& sampler, const samples::Options& options) {
  SampleDigest digest;
  samples::run_layer(graph, seed_lists(80, graph.graph().vertices()), sampler, options, &digest);
  return digest;
}

TEST(UserLayer, IsTheBuiltInKindWhereItSaysTheSame) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  samples::Options options;
  options.kind = samples::Kind::layer, options.layer_sizes = {6, 12};
  for (const bool revisit : {false, true}) {
    options.revisit = revisit;
    const auto built_in = [&](Bias bias) {
      SampleDigest digest;
      options.bias = bias;
      sampling::run_samples(resident, seed_lists(80, graph.vertices()), options, &digest);
      return digest;
    };

    EXPECT_TRUE(digest_of(resident, DegreeLayers{}, options) == built_in(Bias::degree));
    EXPECT_TRUE(digest_of(resident, PlainLayers{}, options) == built_in(Bias::none));
  }
}

template <class Sampler>
void expect_same_in_partitions(const Sampler& sampler) {
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = 9, .slots = 2});
  samples::Options options;
  for (const bool revisit : {false, true}) {
    options.revisit = revisit;
    const SampleDigest expected = digest_of(whole, sampler, options);

    EXPECT_GT(expected.edge.count(), 0u);
    EXPECT_TRUE(digest_of(parts, sampler, options) == expected);
  }
}

TEST(UserLayer, IsTheSameInPartitions) {
  expect_same_in_partitions(PickyLayers{});
  expect_same_in_partitions(ThriftyLayers{});
  expect_same_in_partitions(SparePlainLayers{});
}

TEST(UserLayer, PoolsTheListsOfAsManyEntriesAsItSelects) {
  struct Sources : SampleSink {
    void write(const SampleBatch& batch) override {
      std::size_t at = 0;
      for (std::size_t i = 0; i < batch.count; ++i) {
        std::map<std::uint32_t, std::set<Vertex>> of_depth;
        for (std::uint64_t j = 0; j < batch.edge_counts[i]; ++j, ++at) {
          EXPECT_NE(batch.source[at] % 7, 1u);
          of_depth[batch.depth[at]].insert(batch.source[at]);
        }
        for (const auto& [depth, sources] : of_depth) {
          EXPECT_LE(sources.size(), ThriftyLayers{}.frontier_size(depth));
          several += sources.size() > 1, many += sources.size() > 2;
        }
      }
    }
    std::uint64_t several = 0, many = 0;
  } sources;
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);

  samples::run_layer(resident, seed_lists(80, graph.vertices()), ThriftyLayers{}, {}, &sources);

  EXPECT_GT(sources.several, 0u);
  EXPECT_GT(sources.many, 0u);
}

TEST(UserLayer, WithoutABoundOrWithAWideOneIsTheSame) {
  struct Wide : PlainLayers {
    SLUICE_HD std::uint64_t frontier_size(std::uint32_t) const { return 1000; }
  };
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);

  EXPECT_TRUE(digest_of(resident, Wide{}, {}) == digest_of(resident, PlainLayers{}, {}));
}

TEST(UserLayer, RefusesFrontiersOfNoEntryAndBiasesThatDoNotFit) {
  struct None : PlainLayers {
    SLUICE_HD std::uint64_t frontier_size(std::uint32_t depth) const { return 2 - depth; }
  };
  struct Heavy : SparePlainLayers {
    SLUICE_HD std::uint64_t vertex_bias(const GraphView&, Vertex) const { return std::uint64_t{1} << 63; }
  };
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = 9, .slots = 2});

  EXPECT_THROW(digest_of(whole, None{}, {}), UsageError);
  EXPECT_THROW(digest_of(whole, Heavy{}, {}), RunError);
  EXPECT_THROW(digest_of(parts, Heavy{}, {}), RunError);
}

TEST(UserLayer, UpdateSaysWhereTheNextDepthBegins) {
  struct Sources : SampleSink {
    void write(const SampleBatch& batch) override {
      std::size_t at = 0, seed = 0;
      for (std::size_t i = 0; i < batch.count; ++i) {
        std::set<Vertex> known(batch.seeds.begin() + seed, batch.seeds.begin() + seed + batch.seed_counts[i]);
        seed += batch.seed_counts[i];
        for (std::uint64_t j = 0; j < batch.edge_counts[i]; ++j, ++at) {
          EXPECT_TRUE(known.contains(batch.source[at]));
          EXPECT_NE(batch.target[at] % 5, 0u);
          if (batch.target[at] % 3 != 0) known.insert(batch.target[at]);
          deep += batch.depth[at] == 3;
        }
      }
    }
    std::uint64_t deep = 0;
  } sources;
  const Graph graph = scattered(1000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);

  samples::run_layer(resident, seed_lists(80, graph.vertices()), PickyLayers{}, {}, &sources);

  EXPECT_GT(sources.deep, 0u);
}

}  // namespace
}  // namespace sluice::test
