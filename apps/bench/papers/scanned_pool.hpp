// Multidimensional walks that scan their whole pool for each entry, instead of using a tree of sums.
#pragma once

#include <cstdint>

#include "engine/batch/options.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::bench::papers {

/// Walks of `length` steps of a pool of `seeds`, equal to those of the built-in kind. Errors as run_walks.
RunStats run_scanned_pool(ResidentGraph& graph, const Starts& starts, std::uint32_t seeds,
                          std::uint32_t length, const RunOptions& options);

}  // namespace sluice::bench::papers
