// Targets of single edges, asked of the ranks that own them: between hosts, whichever device draws, for edges
// are read from host memory or the file. Positions need 64 bits, where owner_requests.hpp asks by vertex.
#pragma once

#include <span>

#include "engine/core/function_ref.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// Finds the targets of edges that this rank owns.
using FindTargets = FunctionRef<void(std::span<const EdgeIndex> positions, std::span<Vertex> targets)>;

/// The targets of the edges at `positions`; `owners` says which rank has each. All ranks call it.
/// `find` is called for all that the ranks ask of this one. Throws BudgetError on this rank alone.
void ask_targets(Communicator& ranks, const Ownership& owners, std::span<const EdgeIndex> positions,
                 std::span<Vertex> targets, const FindTargets& find, RunStats& stats);

/// Takes the memory of that for a while, where a rank asks for `edges`. All ranks call it. Throws
/// BudgetError.
void plan_asking(Communicator& ranks, std::uint64_t edges);

}  // namespace sluice::samples
