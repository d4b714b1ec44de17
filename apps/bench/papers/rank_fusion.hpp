// Fusion of PageRank's kernels (SIMD-X, ATC'19): in its sweep, and in ranks that push their differences.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/papers/tables.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::bench::papers {

/// Milliseconds of PageRank to 1e-10; `last` receives the last result.
std::vector<double> rank_times(Tables& tables, Device& device, const Graph& graph, const std::string& row,
                               pagerank::RankFusion fusion, pagerank::Result& last);

/// Adds rows to the current table: launches, registers and times for each choice of fused rounds.
void add_rank_fusions(Tables& tables, Device& device, const Graph& graph);

}  // namespace sluice::bench::papers
