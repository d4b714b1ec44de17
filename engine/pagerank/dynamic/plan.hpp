// The memory that dynamic PageRank takes, and where it keeps the graph.
#pragma once

#include <cstdint>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

/// Whether a GPU keeps the graph in both directions: it has memory to rewrite the lists of one, and no
/// partitions, slots or transport are asked for.
bool keeps_whole_graph(const Device& device, const Graph& graph, const Options& options,
                       const PagingOptions& paging);

/// Memory of DynamicRanks and a batch of this size beside the graph as it was read, on one rank of the job.
/// In-edges that a directed graph in memory does not store are made once and kept. Throws UsageError for
/// options that DynamicRanks::follow() would refuse.
Plan plan_dynamic_ranks(const Device& device, const Graph& graph, const Options& options,
                        const UpdateSize& batch, const RankPlace& place = {},
                        const DynamicRankOptions& dynamic = {});

}  // namespace sluice::pagerank
