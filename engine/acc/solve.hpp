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

/// Breadth-first search along out-edges from `source`. Rounds pull where the graph has in-edges and a pull is
/// less work. Throws UsageError if a non-empty graph lacks `source`, or pulls are required without in-edges.
BfsResult bfs(const AccGraph& graph, Vertex source, const AccOptions& options = {});

struct SsspResult {
  HostArray<double> distances;  ///< [vertices] infinity: unreached
  double delta = 0;             ///< width of levels, as used
  AccStats stats;
};

/// Shortest distances along out-edges from `source`: weights are summed in double, from the source on. With
/// `delta` 0 a width is chosen from the weights; it changes no distance. Where the graph has in-edges, rounds
/// may pull as the options say. Throws UsageError for a source as bfs() does, for a negative delta, and if
/// options require pulls and the graph has no in-edges.
SsspResult sssp(const AccGraph& graph, Vertex source, double delta = 0,
                const AccOptions& options = {.direction = AccDirection::push});

struct CoreResult {
  HostArray<std::uint32_t> cores;  ///< [vertices]
  AccStats stats;
};

/// Core numbers of a graph that was made with AccNeeds::simple. If `k` is not 0: k for members of the k-core,
/// less for other vertices. Pulls, and throws for a missing direction, as sssp() does.
CoreResult core_numbers(const AccGraph& graph, std::uint32_t k = 0,
                        const AccOptions& options = {.direction = AccDirection::push});

struct ComponentResult {
  HostArray<Vertex> components;  ///< [vertices] the smallest vertex of the component
  AccStats stats;
};

/// Weakly connected components. Less work if every edge is stored in both directions.
ComponentResult components(const AccGraph& graph, const AccOptions& options = {});

/// The needs of a run beside the graph as it was read.
struct AccPlan {
  std::uint64_t device_bytes = 0;   ///< states and worklists, and on a GPU the graph
  std::uint64_t partitions = 1;     ///< of this rank's edges, estimated
  std::uint64_t brought_bytes = 0;  ///< of lists brought in a round, at most
  std::uint64_t state_bytes = 0;
  std::uint64_t message_bytes = 0;  ///< of this rank's edges, in host memory
  std::uint64_t scratch_bytes = 0;  ///< of messages, if in scratch files
  std::uint64_t host_bytes = 0;     ///< graph conversions, results, verification
  std::uint64_t result_bytes = 0;
  std::uint64_t model_bytes = 0;  ///< of a model already in host memory
};

/// Bytes per vertex: of its state, and of its results including what they are computed from.
struct VertexSize {
  std::uint64_t state = 0, result = 0;
};

/// Plans a job: calls solve(AccGraph), which calls a solver and perhaps a check (verify.hpp), on a device
/// that only counts memory. An undirected graph is assumed to be simple unless needs.makes_simple; if the
/// simple form is made, its size is an upper bound. Throws UsageError for what the run would refuse.
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
