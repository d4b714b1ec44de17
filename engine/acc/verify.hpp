// --verify: is a result right? Each check asks what the meanings of CONTRACT section 4 say, of the graph as
// it was read, and shares no code with the solvers. All throw RunError ("verify: ...") at the first fault.
#pragma once

#include <cstdint>
#include <span>

#include "engine/acc/beliefs.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// Graph500's five rules, and that every parent is the smallest possible.
void verify_bfs(const Graph& graph, Vertex source, std::span<const std::int32_t> depths,
                std::span<const Vertex> parents);

/// No edge leads to a shorter path, and edges that a shortest path may end with lead from the source to all
/// that is reached.
void verify_sssp(const Graph& graph, Vertex source, std::span<const double> distances);

/// The core numbers of a plain peeling, one vertex after the other. With `k`, what matters is only which are
/// at least k.
void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores);

/// The components of a plain union-find over all edges.
void verify_components(const Graph& graph, std::span<const Vertex> components);

/// Beliefs are products of priors and messages, and another round of messages, by plain products, changes
/// none by more than `tolerance`. Messages must have been kept.
void verify_beliefs(const Graph& graph, const BeliefModel& model, const BeliefResult& result,
                    double tolerance, double damping);

}  // namespace sluice
