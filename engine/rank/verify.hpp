// Whether ranks are what PageRank says, asked in another way than they were found.
#pragma once

#include <span>

#include "engine/rank/pagerank.hpp"

namespace sluice {

/// Makes one more iteration by pushing along out-edges in double precision. It may change ranks, in L1, by no
/// more than the damping times what the last iteration changed (`last_l1`), and rounding; and ranks must be
/// finite, not negative and sum to 1. Needs the edges of `graph.out` in host memory, and 16 bytes a vertex.
/// Throws RunError
/// ("verify: ...") otherwise.
void verify_pagerank(const Graph& graph, const PageRankOptions& options, std::span<const double> ranks,
                     double last_l1);

}  // namespace sluice
