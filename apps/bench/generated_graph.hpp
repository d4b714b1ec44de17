// A synthetic graph in memory, without a file in between: the same ids, lists and weights that
// make_generator() and convert() write. What is measured, and what is tested, is of such graphs.
#pragma once

#include "io/convert/convert.hpp"
#include "io/generate/generate.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

/// Of `rules`, takes undirected, keep_self_loops, keep_duplicates, weights (none or uniform), compact,
/// reverse, seed (of the weights) and threads. Makes every edge twice, once to count and once to place it, so
/// that nothing but eight bytes a stored edge lies beside the result. The checksum stays 0. `stats`, if not
/// null, is filled in.
Graph generate_graph(const io::GenerateOptions& options, const io::ConvertOptions& rules,
                     io::ConvertStats* stats = nullptr);

}  // namespace sluice::bench
