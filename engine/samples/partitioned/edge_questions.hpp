// Targets of single edges, requested from the ranks that own them. Hosts exchange them on any device, since
// edges are read from host memory or the file. Questions are 64-bit positions, unlike in owner_requests.hpp.
#pragma once

#include <span>

#include "engine/core/function_ref.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// Finds the targets of edges that this rank owns.
using FindTargets = FunctionRef<void(std::span<const EdgeIndex> positions, std::span<Vertex> targets)>;

/// Writes the targets of the edges at `positions`, which `owners` assigns to ranks. All ranks call it.
/// `find` is called once for all questions to this rank. Throws BudgetError on this rank alone.
void request_targets(Communicator& ranks, const Ownership& owners, std::span<const EdgeIndex> positions,
                     std::span<Vertex> targets, const FindTargets& find, RunStats& stats);

/// For plans: allocates and frees the memory of request_targets() for `edges` positions. All ranks call it.
/// Throws BudgetError.
void plan_target_requests(Communicator& ranks, std::uint64_t edges);

}  // namespace sluice::samples
