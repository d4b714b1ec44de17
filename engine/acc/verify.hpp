// --verify: is a result right? Each check asks what the meanings of CONTRACT section 4 say, of the graph as
// it was read, and shares no code with the solvers. All throw RunError ("verify: ...") at the first fault
// that a thread comes to.
//
// Edges are looked at in memory, or in pieces as they are read from the graph's file. Of several ranks
// (null: this one is alone) all make the same call, each with the whole result; the failure of one of them
// is that of all. Where host memory is counted alone a check takes its own, and looks at nothing.
#pragma once

#include <cstdint>
#include <span>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Graph500's five rules, and that every parent is the smallest possible. Reads every edge once, by one rank;
/// takes a bit a vertex.
void verify_bfs(const Graph& graph, Vertex source, std::span<const std::int32_t> depths,
                std::span<const Vertex> parents, Communicator* ranks = nullptr, unsigned threads = 1);

/// No edge leads to a shorter path, and edges that a shortest path may end with lead from the source to all
/// that is reached. Reads every edge once, by one rank, and again the lists of vertices with an edge that
/// adds nothing to their distance; takes two bits and 4 bytes a vertex.
void verify_sssp(const Graph& graph, Vertex source, std::span<const double> distances,
                 Communicator* ranks = nullptr, unsigned threads = 1);

/// Every vertex has as many neighbours in its core as its core number says, and a plain peeling of those of
/// one core number, all numbers side by side, leaves none. With `k`, what matters is only which are at least
/// k. Every rank reads every list twice; takes 8 bytes a vertex, and in-edges where a directed graph in
/// memory has none. Throws UsageError for a directed graph in a file that does not store in-edges.
void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores,
                  Communicator* ranks = nullptr, unsigned threads = 1);

/// The components of a plain union-find over all edges. Reads every edge once, by one rank; takes 4 bytes a
/// vertex.
void verify_components(const Graph& graph, std::span<const Vertex> components, Communicator* ranks = nullptr,
                       unsigned threads = 1);

/// Beliefs are products of priors and messages, and another round of messages, by sums and products of plain
/// doubles, changes none by more than `tolerance`. Each rank looks at its own messages, wherever the edges
/// are, and all find together that what is sent is what is received. Reads every edge twice, by one rank;
/// takes 12 bytes a vertex's state. Returns the largest change that another round makes to a belief of the
/// vertices that this rank looks at. Throws UsageError where messages were not kept.
double verify_beliefs(const Graph& graph, const BeliefModel& model, const BeliefResult& result,
                      double tolerance, double damping, Communicator* ranks = nullptr, unsigned threads = 1);

}  // namespace sluice::acc
