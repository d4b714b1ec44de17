// Fusion of PageRank's kernels (SIMD-X, ATC'19): of its sweep, and of ranks that push their differences.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/papers/tables.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::bench::papers {

/// Milliseconds of PageRank to 1e-10, and what it came to last.
std::vector<double> rank_times(Tables& tables, Device& device, const Graph& graph, const std::string& row,
                               pagerank::RankFusion fusion, pagerank::Result& last);

/// Rows of the table under way: launches, registers and times by what shares a kernel.
void put_rank_fusions(Tables& tables, Device& device, const Graph& graph);

}  // namespace sluice::bench::papers
