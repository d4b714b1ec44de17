// Targets of edges at scattered positions, from wherever the host has them.
#pragma once

#include <cstdint>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

/// Brings the targets of the edges at `positions`; those that lie close together are read from a file at
/// once. Returns the bytes that came from a file. Throws InputError, BudgetError.
std::uint64_t read_targets(const Graph& graph, std::span<const EdgeIndex> positions,
                           std::span<Vertex> targets);

}  // namespace sluice
