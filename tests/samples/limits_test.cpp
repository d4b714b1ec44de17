// Requests of a sample beyond the limits of one list are refused in one line; requests just within are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/core/error.hpp"
#include "engine/random/streams.hpp"
#include "samples/dynamic_samplers.hpp"
#include "sampling/jobs.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

/// Vertex 0 has `degree` self-loops. The first has a given weight, all others weigh 1.
Graph loops(std::uint64_t degree, float first = 0) {
  Graph graph;
  graph.weighted = first > 0;
  graph.out.offsets = HostArray<EdgeIndex>(2);
  graph.out.offsets[0] = 0, graph.out.offsets[1] = degree;
  graph.out.targets = HostArray<Vertex>(degree);
  std::fill(graph.out.targets.begin(), graph.out.targets.end(), 0);
  if (!graph.weighted) return graph;
  graph.out.weights = HostArray<float>(degree);
  std::fill(graph.out.weights.begin(), graph.out.weights.end(), 1.0f);
  graph.out.weights[0] = first;
  return graph;
}

/// The message with which a run is refused.
template <class Run>
std::string refusal(const Graph& graph, Run&& run) {
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph resident(device, graph);
  try {
    run(resident);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const Graph& graph, const samples::Options& options) {
  return refusal(graph,
                 [&](ResidentGraph& resident) { sampling::run_samples(resident, {}, options, nullptr); });
}

template <class Sampler>
std::string refusal_of(const Graph& graph, const Sampler& sampler, Select select = Select::automatic) {
  samples::Options options;
  options.select = select;
  return refusal(
      graph, [&](ResidentGraph& resident) { samples::run_sample(resident, {}, sampler, options, nullptr); });
}

TEST(SampleLimits, DynamicBiasesAddUpToLessThanTwoToThe64) {
  const Graph graph = stat::make_graph(3, {{0, 1}, {2, 0}, {2, 1}}, false);
  const std::uint64_t half = std::uint64_t{1} << 63;

  EXPECT_EQ(refusal_of(graph, Heavy<false>{half - 1}), "");
  EXPECT_EQ(refusal_of(graph, Heavy<true>{half - 1}), "");
  for (const std::uint64_t bias : {half, ~std::uint64_t{0}}) {
    const std::string said =
        "the sampler's biases of the edges of vertex 2 add up to 2^64 or more: scale them down";
    EXPECT_EQ(refusal_of(graph, Heavy<false>{bias}), said);
    EXPECT_EQ(refusal_of(graph, Heavy<true>{bias}), said);
  }
}

TEST(SampleLimits, TechniquesThatADynamicBiasDoesNotHaveAreRefused) {
  const Graph graph = loops(3);
  EXPECT_NE(refusal_of(graph, Heavy<true>{}, Select::alias), "");
  EXPECT_NE(refusal_of(graph, Heavy<true>{}, Select::rejection), "") << "it has no bound";
  EXPECT_NE(refusal_of(graph, Heavy<false>{}, Select::its), "");
  EXPECT_NE((refusal_of(graph, Remembering<true, true>{}, Select::bipartite)), "");
}

TEST(SampleLimits, NoListIsDrawnFromMoreOftenThanThereAreWords) {
  samples::Options options;
  options.replace = true;
  options.fanout = std::vector<std::int64_t>{kMaxDraws};
  EXPECT_EQ(refusal_of(loops(3), options), "");
  options.fanout[0] = kMaxDraws + 1;
  EXPECT_EQ(refusal_of(loops(3), options), "--fanout: at most 16777216 with --replace");
  EXPECT_NE(refusal_of(loops(3), Heavy<true>{1, kMaxDraws + 1}), "");
  const Remembering<true, true> rejecting{1, kMaxDraws / 64 + 1};
  EXPECT_NE(refusal_of(loops(3), rejecting), "") << "rejection has 64 trials a draw";
}

TEST(SampleLimits, NoForestFireOutlivesItsWords) {
  samples::Options options;
  options.kind = samples::Kind::forest_fire;
  options.depth = 1;
  options.probability = 1 - 0x1p-53;
  EXPECT_NE(refusal_of(loops(kMaxWords + std::uint64_t{1}), options), "");
}

/// Each pick after the first meets the heavy edge, until its thousand redraws are used up.
TEST(SampleLimits, ClashesDoNotUseWordsTwice) {
  const std::uint32_t picks = kMaxWords / 1000;
  const Graph graph = loops(picks + 100, 0x1p31f);
  samples::Options options;
  options.bias = Bias::weight, options.select = Select::repeated, options.collision = Collision::bitmap;
  options.fanout = std::vector<std::int64_t>{picks - 200};
  EXPECT_EQ(refusal_of(graph, options), "");
  options.fanout[0] = picks + 2;
  EXPECT_EQ(
      refusal_of(graph, options),
      "a sample's draws collide too often: select fewer edges, or all of a list, or use --select updated");
}

}  // namespace
}  // namespace sluice::test
