// Layers that pool the lists of some entries: the edges of a depth compared with the distribution of both
// choices.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "engine/samples/layer/layer.hpp"
#include "statistical/chi_square.hpp"
#include "statistical/graphs.hpp"
#include "statistical/harness.hpp"

namespace sluice::stat {
namespace {

/// Two entries by the square of their degree, and two of their edges by weight.
struct TwoOfFrontier {
  SLUICE_HD std::uint32_t depth() const { return 1; }
  SLUICE_HD std::uint64_t layer_size(std::uint32_t) const { return 2; }
  SLUICE_HD std::uint64_t frontier_size(std::uint32_t) const { return 2; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const {
    return graph.degree(v) * graph.degree(v);
  }
  SLUICE_HD std::uint64_t edge_bias(const GraphView&, const sluice::Edge& edge) const {
    return 1 + edge.target % 3;
  }
};

using Layer = std::vector<EdgeIndex>;  ///< positions of its edges, ascending

double bias_of(const Graph& graph, Vertex v) {
  const auto degree = static_cast<double>(graph.out.offsets[v + 1] - graph.out.offsets[v]);
  return degree * degree;
}
double bias_of_edge(const Graph& graph, EdgeIndex edge) {
  return 1 + graph.out.targets[edge] % 3;
}

/// Adds the distribution of the edges of two entries, which are chosen with this probability.
void add_edges(const Graph& graph, const std::vector<Vertex>& entries, double probability,
               std::map<Layer, double>& law) {
  std::vector<EdgeIndex> edges;
  double total = 0;
  for (const Vertex v : entries)
    for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e)
      edges.push_back(e), total += bias_of_edge(graph, e);
  for (const EdgeIndex a : edges) {
    for (const EdgeIndex b : edges) {
      if (a == b) continue;
      const double first = bias_of_edge(graph, a) / total,
                   second = bias_of_edge(graph, b) / (total - bias_of_edge(graph, a));
      law[{std::min(a, b), std::max(a, b)}] += probability * first * second;
    }
  }
}

std::map<Layer, double> law_of(const Graph& graph, const std::vector<Vertex>& frontier) {
  std::map<Layer, double> law;
  double total = 0;
  for (const Vertex v : frontier) total += bias_of(graph, v);
  for (const Vertex a : frontier) {
    for (const Vertex b : frontier) {
      if (a == b) continue;
      const double p = bias_of(graph, a) / total * bias_of(graph, b) / (total - bias_of(graph, a));
      if (p > 0) add_edges(graph, {a, b}, p, law);
    }
  }
  return law;
}

struct Layers : SampleSink {
  explicit Layers(const Graph& seen) : graph(seen) {}

  void write(const SampleBatch& batch) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
      Layer layer(batch.edge.begin() + static_cast<std::ptrdiff_t>(at),
                  batch.edge.begin() + static_cast<std::ptrdiff_t>(at + batch.edge_counts[i]));
      std::sort(layer.begin(), layer.end());
      ++count[layer];
      at += batch.edge_counts[i];
    }
  }
  const Graph& graph;
  std::map<Layer, std::uint64_t> count;
};

TEST(LayerFrontier, SelectsEntriesAndTheirEdgesAsOftenAsItShould) {
  const Graph graph = pocket();
  const std::vector<Vertex> frontier{0, 1, 2, 3, 4, 5, 6};  // 6 has no edge and no bias
  for (const unsigned partitions : {1u, 4u}) {
    Device device({DeviceChoice::host, 2, 0});
    ResidentGraph resident(device, graph, {.partitions = partitions});
    samples::Options options;
    options.seed = 11;
    Layers layers(graph);

    samples::run_layer(resident, repeat_seeds({frontier}, scaled(400000)), TwoOfFrontier{}, options, &layers);

    std::map<Layer, double> law = law_of(graph, frontier);
    for (const auto& [layer, seen] : layers.count) law.try_emplace(layer, 0);
    std::vector<double> probability;
    std::vector<std::uint64_t> observed;
    for (const auto& [layer, p] : law) {
      probability.push_back(p);
      observed.push_back(layers.count.contains(layer) ? layers.count.at(layer) : 0);
    }
    const Fit fit = pearson(observed, probability);
    EXPECT_GT(law.size(), 100u);
    EXPECT_EQ(fit.impossible, 0u);
    EXPECT_GT(fit.p, kThreshold) << fit.statistic << " of " << fit.freedom;
  }
}

}  // namespace
}  // namespace sluice::stat
