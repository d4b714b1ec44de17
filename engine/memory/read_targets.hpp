// Targets of edges at scattered positions, from host memory or the graph's file.
#pragma once

#include <cstdint>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

/// Gets the targets of the edges at `positions`. Positions that are close together are read from a file in
/// one read. Returns the bytes read from a file. Throws InputError, BudgetError.
std::uint64_t read_targets(const Graph& graph, std::span<const EdgeIndex> positions,
                           std::span<Vertex> targets);

}  // namespace sluice
