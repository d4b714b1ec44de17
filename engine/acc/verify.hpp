// Implements --verify. Each check tests the definitions of CONTRACT section 4 on the graph as it was read,
// and shares no code with the solvers. All throw RunError ("verify: ...") at the first fault that a thread
// finds.
//
// Edges are read from memory, or in pieces from the graph's file. With several ranks (null: one process) all
// ranks make the same call, each with the whole result; a failure on one rank fails on all. In a plan, which
// only counts host memory, a check allocates its memory and reads nothing.
#pragma once

#include <cstdint>
#include <span>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Checks Graph500's five rules, and that every parent is the smallest possible. One rank reads each edge,
/// once; takes a bit a vertex.
void verify_bfs(const Graph& graph, Vertex source, std::span<const std::int32_t> depths,
                std::span<const Vertex> parents, Communicator* ranks = nullptr, unsigned threads = 1);

/// Checks that no edge gives a shorter path, and that edges which fit the distances form a path from the
/// source to every reached vertex. One rank reads each edge, once. Lists of vertices with an edge that adds
/// nothing to the distance are read again. Takes two bits and 4 bytes a vertex.
void verify_sssp(const Graph& graph, Vertex source, std::span<const double> distances,
                 Communicator* ranks = nullptr, unsigned threads = 1);

/// Checks that every vertex has as many neighbours in its core as its core number, and that peeling each
/// core, all core numbers in parallel, leaves no vertex. With `k`, only membership of the k-core matters.
/// Every rank reads every list twice; takes 8 bytes a vertex, and in-edges if a directed graph in memory has
/// none. Throws UsageError for a directed graph in a file that does not store in-edges.
void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores,
                  Communicator* ranks = nullptr, unsigned threads = 1);

/// Compares with a plain union-find over all edges. One rank reads each edge, once; takes 4 bytes a vertex.
void verify_components(const Graph& graph, std::span<const Vertex> components, Communicator* ranks = nullptr,
                       unsigned threads = 1);

/// Checks that beliefs are products of priors and messages, and that another round of messages changes none
/// by more than `tolerance`; it uses sums and products of plain doubles. Each rank checks its own messages,
/// wherever edges are stored; all ranks together check that each message sent is the one received. One rank
/// reads each edge, twice; takes 12 bytes for each state of each vertex. Returns the largest change of a
/// belief by another round among the vertices that this rank checks. Throws UsageError if messages were not
/// kept.
double verify_beliefs(const Graph& graph, const BeliefModel& model, const BeliefResult& result,
                      double tolerance, double damping, Communicator* ranks = nullptr, unsigned threads = 1);

}  // namespace sluice::acc
