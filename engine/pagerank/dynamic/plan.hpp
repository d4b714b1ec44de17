// What dynamic PageRank takes, and where it keeps the graph.
#pragma once

#include <cstdint>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "partition/update.hpp"

namespace sluice::pagerank {

/// Whether a GPU that is alone keeps the graph in both directions: it has memory to rewrite the lists of one,
/// and nothing else is asked for.
bool stays_whole(const Device& device, const Graph& graph, const Options& options,
                 const PagingOptions& paging);

/// What DynamicRanks and a batch of this size would take beside the graph as it was read, on one rank of the
/// job. In-edges that a directed graph in memory does not store are made once and stay. Throws UsageError
/// for what DynamicRanks::follow() would refuse.
Plan plan_dynamic_ranks(const Device& device, const Graph& graph, const Options& options,
                        const UpdateSize& batch, const RankPlace& place = {},
                        const DynamicRankOptions& dynamic = {});

}  // namespace sluice::pagerank
