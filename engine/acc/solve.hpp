// The built-in Active-Compute-Combine solvers, compiled for both backends (programs/).
#pragma once

#include <cstdint>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/core/host_array.hpp"

namespace sluice::acc {

struct BfsResult {
  HostArray<std::int32_t> depths;  ///< [vertices] -1: unreached
  HostArray<Vertex>
      parents;  ///< [vertices] the smallest possible; kNoVertex: unreached; the source is its own
  AccStats stats;
};

/// Along out-edges from `source`. Rounds pull where the graph has in-edges and that is less work. Throws
/// UsageError where a graph with vertices has no such one, and where it has no in-edges but must pull.
BfsResult bfs(const AccGraph& graph, Vertex source, const AccOptions& options = {});

struct SsspResult {
  HostArray<double> distances;  ///< [vertices] infinity: unreached
  double delta = 0;             ///< how wide levels were
  AccStats stats;
};

/// Least sums of weights along out-edges from `source`, added in double from the source on. `delta` 0: chosen
/// from the weights; it changes no distance. Where the graph has in-edges, rounds may pull as the options
/// say. Throws UsageError for a source as bfs() does, for a negative delta, and where it has none but must
/// pull.
SsspResult sssp(const AccGraph& graph, Vertex source, double delta = 0,
                const AccOptions& options = {.direction = AccDirection::push});

struct CoreResult {
  HostArray<std::uint32_t> cores;  ///< [vertices]
  AccStats stats;
};

/// Core numbers of a graph that was made with AccNeeds::simple. With `k`: k for members of the k-core, less
/// for the others. It pulls where sssp() would, and refuses to as that.
CoreResult core_numbers(const AccGraph& graph, std::uint32_t k = 0,
                        const AccOptions& options = {.direction = AccDirection::push});

struct ComponentResult {
  HostArray<Vertex> components;  ///< [vertices] the smallest vertex of the component
  AccStats stats;
};

/// Weakly connected components. Work is saved where every edge is there in both directions.
ComponentResult components(const AccGraph& graph, const AccOptions& options = {});

/// What a run would take beside the graph as it was read.
struct AccPlan {
  std::uint64_t device_bytes = 0;   ///< states and worklists, and on a GPU the graph
  std::uint64_t partitions = 1;     ///< about, of this rank's edges
  std::uint64_t brought_bytes = 0;  ///< of its lists in a round, at most
  std::uint64_t state_bytes = 0;
  std::uint64_t message_bytes = 0;  ///< of this rank's edges, which stay in host memory
  std::uint64_t scratch_bytes = 0;  ///< these, where scratch files have them
  std::uint64_t host_bytes = 0;     ///< other forms of the graph while they are made, the result, a check
  std::uint64_t result_bytes = 0;
  std::uint64_t given_bytes = 0;  ///< of a model, which is in host memory when the plan is made
};

/// What a vertex takes, in bytes: its state, and its results with what these are made from.
struct VertexSize {
  std::uint64_t state = 0, result = 0;
};

/// What solve(AccGraph), one of the above and perhaps a check (verify.hpp), would take: it is called.
/// An undirected graph is taken to be simple, unless needs.made; of the simple form the plan says what it
/// takes at most. Throws UsageError for what the run would refuse.
template <class Solve>
AccPlan plan_solver(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place,
                    const VertexSize& vertex, const Solve& solve) {
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  const AccGraph on_device(counting, graph, needs, place);
  AccPlan plan;
  plan.state_bytes = graph.vertices() * vertex.state;
  plan.result_bytes = graph.vertices() * vertex.result;
  plan.partitions = solve(on_device).stats.partitions;
  const RankPart& part = on_device.rank_part();
  if (plan.partitions > 1) plan.brought_bytes = edge_bytes(part.lists().edges, part.weighted());
  plan.device_bytes = memory.needed();
  plan.host_bytes = memory.host_needed();
  return plan;
}

}  // namespace sluice::acc
