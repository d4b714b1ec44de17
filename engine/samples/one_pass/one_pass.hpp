// The sampling API for one pass over a graph: each instance draws distinct vertices or edges, uniformly.
// Include this header to run your own sampler; the including file need not be compiled as CUDA, even for a
// GPU. The hooks of a sampler:
//   kDrawsVertices       required. true: a sample has vertices, and all edges between them; false: edges
//   sample_size(graph)   required: how many an instance draws; at least 1, at most the universe
//   universe(graph)      how many an instance draws from: the first vertices by id, or the first edges by
//                        position; default: all
// The host calls the hooks once per run, with the graph in host memory; its targets and weights may be in a
// file instead. Of Starts, only the number of instances is used.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/select/hooks.hpp"
#include "partition/graph.hpp"

namespace sluice::samples {

template <class S>
concept OnePassSampler = std::is_trivially_copyable_v<S> && requires(const S s, const Graph& g) {
  { S::kDrawsVertices } -> std::convertible_to<bool>;
  { s.sample_size(g) } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept HasUniverse = requires(const S s, const Graph& g) {
  { s.universe(g) } -> std::convertible_to<std::uint64_t>;
};

/// The hooks of sampler S that one-pass samples never call.
template <OnePassSampler S>
constexpr HookSet never_called_in_one_pass() {
  constexpr HookSet required = hooks(Hook::kDrawsVertices, Hook::sample_size);
  return never_called<S>(required.with(Hook::universe), required.with(Hook::universe, HasUniverse<S>));
}

/// The hooks' results for a graph.
struct OnePassDraws {
  bool vertices = true;        ///< draws vertices; false: edges
  std::uint64_t count = 0;     ///< vertices or edges that an instance draws
  std::uint64_t universe = 0;  ///< vertices or edges to draw from
};
RunStats run_one_pass(ResidentGraph& graph, const Starts& starts, const OnePassDraws& draws,
                      const RunOptions& options, SampleSink* sink);

/// Runs one-pass samples with your own sampler. Throws the same errors as run_samples.
template <OnePassSampler Sampler>
RunStats run_one_pass(ResidentGraph& resident, const Starts& starts, const Sampler& sampler,
                      const RunOptions& options, SampleSink* sink) {
  refuse_hooks<never_called_in_one_pass<Sampler>()>();
  const Graph& graph = resident.graph();
  OnePassDraws draws{Sampler::kDrawsVertices};
  draws.count = sampler.sample_size(graph);
  draws.universe = draws.vertices ? graph.vertices() : graph.edges();
  if constexpr (HasUniverse<Sampler>) draws.universe = sampler.universe(graph);
  return run_one_pass(resident, starts, draws, options, sink);
}

}  // namespace sluice::samples
