// The workloads of suites, and a sink that drops results.
#pragma once

#include <vector>

#include "apps/bench/figures.hpp"
#include "apps/bench/generated_graph.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/memory/paging.hpp"
#include "engine/ppr/ppr.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::bench {

/// Threads for work on the host in addition to the device.
inline unsigned host_threads(const Device& device) {
  return device.is_cuda() ? usable_cores() : device.threads();
}

/// The graph file of the options; without one a generated graph, undirected, weighted, without isolated
/// vertices, and Graph500 Kronecker by default.
inline Graph load_graph(const Device& device, const Options& options,
                        io::GraphKind kind = io::GraphKind::kronecker) {
  if (!options.graph.empty()) return io::read_graph(options.graph);
  io::GenerateOptions generate;
  generate.kind = kind, generate.scale = options.scale, generate.edge_factor = options.edge_factor;
  generate.seed = options.seed, generate.threads = host_threads(device);
  io::ConvertOptions rules;
  rules.undirected = true, rules.compact = true, rules.weights = io::WeightRule::uniform;
  rules.seed = options.seed, rules.threads = generate.threads, rules.scratch = options.folder;
  return bench::generate_graph(generate, rules);
}

/// A quarter of the partitions is on the device at a time.
inline constexpr PagingOptions kQuarterInSlots{.partitions = 64, .slots = 16, .transport = Transport::copied};

/// Slots for coded lists in the same memory: a quarter of the size of the uncoded lists; if `by_weight`, with
/// weights.
inline PagingOptions coded_quarter(const Graph& graph, unsigned threads, bool by_weight) {
  const std::uint64_t bytes = CodedSizes(graph.out.view(), threads, by_weight).word_bytes();
  PagingOptions paging = kQuarterInSlots;
  paging.slots = kQuarterInSlots.slots * (by_weight ? 2 : 1) * graph.edges() * sizeof(Vertex) / bytes;
  return paging;
}

/// Vertices with edges, spread evenly over all vertices.
inline std::vector<Vertex> sources_of(const Graph& graph, unsigned count) {
  std::vector<Vertex> sources;
  const std::uint64_t n = graph.vertices();
  for (unsigned i = 0; i < count && n > 0; ++i) {
    std::uint64_t v = n / count * i + i % n;
    while (v + 1 < n && graph.out.offsets[v] == graph.out.offsets[v + 1]) ++v;
    sources.push_back(static_cast<Vertex>(v));
  }
  return sources;
}

/// A model of two states, in which neighbours tend to have the same state.
inline acc::BeliefModel two_states(const Graph& graph) {
  acc::BeliefModel model;
  model.states = 2;
  model.coupling = {0.6, 0.4, 0.4, 0.6};
  model.priors = HostArray<double>(2 * graph.vertices(), "priors");
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    model.priors[2 * v] = static_cast<double>(1 + v % 7) / 8;
    model.priors[2 * v + 1] = 1 - model.priors[2 * v];
  }
  return model;
}

/// Drops the scores of queries, if only their time is measured.
struct NullSink : ppr::Sink {
  void write(const ppr::Batch&) override {}
};

}  // namespace sluice::bench
