// A synthetic graph in memory, without a file in between: the same ids, lists and weights that
// make_generator() and convert() write.
#pragma once

#include "io/convert/convert.hpp"
#include "io/generate/generate.hpp"
#include "partition/graph.hpp"

namespace sluice::io {

/// Of `rules`, takes undirected, keep_self_loops, keep_duplicates, weights (none or uniform), compact,
/// reverse, seed (of the weights) and threads. Makes every edge twice, once to count and once to place it, so
/// that nothing but eight bytes a stored edge lies beside the result. The checksum stays 0. `stats`, if not
/// null, is filled in.
Graph generate_graph(const GenerateOptions& options, const ConvertOptions& rules,
                     ConvertStats* stats = nullptr);

}  // namespace sluice::io
