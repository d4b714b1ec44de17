// Walks and samples on all ranks of the job, compared with the same on one of them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/bench/bench.hpp"

namespace sluice::bench {

/// Who works: all ranks together, the first alone, or each rank on all of the work.
enum class WorkingRanks { all, first, each };

/// Measures walks with the graph on every rank, in partitions that are loaded and evicted on every rank, and
/// shared out among the ranks. All ranks call it.
void scale_walks(Device& device, const Options& options, const Graph& graph, std::vector<Figure>& figures);

}  // namespace sluice::bench
