// The bytes that runs on a graph in partitions bring, and that they read in place.
#include <gtest/gtest.h>

#include <functional>

#include "sampling/jobs.hpp"
#include "sampling/out_of_order.hpp"

namespace sluice::test {
namespace {

/// The bytes that a run reads in place if no partition is brought.
std::uint64_t mapped_bytes(const Graph& graph, const std::function<RunStats(ResidentGraph&)>& run) {
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph parts(device, graph, {.partitions = 7, .transport = Transport::mapped});
  ResidentGraph copied(device, graph, {.partitions = 7, .transport = Transport::copied});
  EXPECT_EQ(run(copied).mapped_bytes, 0u);
  return run(parts).mapped_bytes;
}

TEST(PagingTraffic, CountsWhatWalksReadInPlace) {
  const Graph graph = scattered(3000);
  const auto walk = [](walks::Kind kind, Select select, Layout layout) {
    return [=](ResidentGraph& parts) {
      walks::Options options;
      options.kind = kind, options.select = select, options.layout = layout, options.length = 10;
      options.frontier_size = 4;
      return sampling::run_walks(parts, random_starts(500), options, nullptr);
    };
  };
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph);
  const auto steps = [&](const auto& run) { return run(whole).steps; };

  const auto uniform = walk(walks::Kind::uniform, Select::automatic, Layout::csr);
  EXPECT_EQ(mapped_bytes(graph, uniform), 4 * steps(uniform)) << "a target each";
  EXPECT_EQ(mapped_bytes(graph, walk(walks::Kind::uniform, Select::automatic, Layout::coded)),
            12 * steps(uniform))
      << "a sample, high bits and low bits";
  const auto alias = walk(walks::Kind::biased, Select::alias, Layout::csr);
  EXPECT_EQ(mapped_bytes(graph, alias), 16 * steps(alias)) << "threshold, other, target";
  EXPECT_EQ(mapped_bytes(graph, walk(walks::Kind::biased, Select::alias, Layout::coded)), 16 * steps(alias))
      << "a coded target, and a slot";
  const auto pool = walk(walks::Kind::multidimensional, Select::automatic, Layout::csr);
  EXPECT_EQ(mapped_bytes(graph, pool), 4 * steps(pool));
  const auto ctps = walk(walks::Kind::biased, Select::its, Layout::csr);
  EXPECT_GT(mapped_bytes(graph, ctps), 20 * steps(ctps));
  const auto scans = walk(walks::Kind::node2vec, Select::its, Layout::csr);
  EXPECT_GT(mapped_bytes(graph, scans), 200 * steps(scans)) << "whole lists";
}

TEST(PagingTraffic, CountsWhatSamplesReadInPlace) {
  const Graph graph = scattered(3000);
  const auto sample = [&](samples::Kind kind, Bias bias, bool replace, Layout layout = Layout::csr) {
    return [=](ResidentGraph& parts) {
      samples::Options options;
      options.kind = kind, options.bias = bias, options.replace = replace, options.layout = layout;
      options.fanout = {4, 4}, options.layer_sizes = {4}, options.count = 50, options.depth = 1;
      return sampling::run_samples(parts, random_starts(50), options, nullptr);
    };
  };
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph);
  const auto edges = [&](const auto& run) { return run(whole).sampled_edges; };

  const auto neighbor = sample(samples::Kind::neighbor, Bias::none, false);
  EXPECT_EQ(mapped_bytes(graph, neighbor), 4 * edges(neighbor));
  EXPECT_EQ(mapped_bytes(graph, sample(samples::Kind::neighbor, Bias::none, false, Layout::coded)),
            12 * edges(neighbor));
  const auto snowball = sample(samples::Kind::snowball, Bias::none, false);
  EXPECT_EQ(mapped_bytes(graph, snowball), 4 * edges(snowball));
  const auto alias = sample(samples::Kind::neighbor, Bias::degree, true);
  EXPECT_EQ(mapped_bytes(graph, alias), 16 * edges(alias));
  const auto ctps = sample(samples::Kind::neighbor, Bias::degree, false);
  EXPECT_GT(mapped_bytes(graph, ctps), 12 * edges(ctps));
  const auto layer = sample(samples::Kind::layer, Bias::none, false);
  EXPECT_EQ(mapped_bytes(graph, layer), 4 * edges(layer)) << "one look at each target";
  const auto node = sample(samples::Kind::node, Bias::none, false);
  EXPECT_GT(mapped_bytes(graph, node), 2 * 4 * edges(node)) << "twice through all lists";
}

TEST(PagingTraffic, CodedListsAreFewerBytes) {
  const Graph graph = rmat(13, true, 16);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph parts(device, graph, {.partitions = 7, .slots = 2, .transport = Transport::copied});
  walks::Options options;
  const auto bytes_each = [&](Layout layout) {
    options.layout = layout, options.length = 10;
    const RunStats stats = sampling::run_walks(parts, random_starts(1000), options, nullptr);
    EXPECT_EQ(stats.layout, layout);
    return static_cast<double>(stats.host_to_device_bytes) / static_cast<double>(stats.partition_transfers);
  };

  EXPECT_LT(bytes_each(Layout::coded), 0.5 * bytes_each(Layout::csr));
}

TEST(PagingTraffic, CountsWhatSamplesBring) {
  const Graph graph = scattered(3000);
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph whole(device, graph),
      parts(device, graph, {.partitions = 7, .slots = 2, .transport = Transport::copied});
  samples::Options options;
  options.fanout = {4, 4};

  const RunStats expected = sampling::run_samples(whole, random_starts(1000), options, nullptr);
  const RunStats stats = sampling::run_samples(parts, random_starts(1000), options, nullptr);

  EXPECT_EQ(stats.sampled_edges, expected.sampled_edges);
  EXPECT_EQ(stats.selections, expected.selections);
  EXPECT_EQ(stats.selection_iterations, expected.selection_iterations);
  EXPECT_EQ(stats.partitions, 7u);
  EXPECT_GE(stats.partition_transfers, 7u);
  EXPECT_GE(stats.rounds, 4u);
  EXPECT_GE(stats.host_to_device_bytes, graph.edges() * sizeof(Vertex));
}

TEST(PagingTraffic, InstancesThatAreDoneWithADepthWaitForNoOthers) {
  Device device({DeviceChoice::host, 2, 0});
  expect_no_instance_waits(device);
}

}  // namespace
}  // namespace sluice::test
