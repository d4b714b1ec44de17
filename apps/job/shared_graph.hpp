// The graph of a job of many ranks: one copy on each machine.
#pragma once

#include <cstdint>
#include <string>

#include "io/graph_file/graph_file.hpp"
#include "partition/graph.hpp"

namespace sluice::apps {

/// What this rank pays for of `bytes` that the ranks of its machine share.
std::uint64_t share_of_node(std::uint64_t bytes);

/// Calls use(array) for each array of the graph.
template <class Use>
void for_each_array(const Graph& graph, Use&& use) {
  for (const Csr* rows : {&graph.out, &graph.in})
    use(rows->offsets), use(rows->targets), use(rows->weights), use(rows->times);
  use(graph.original_ids);
}

/// Reads a graph file. Of the ranks of a machine one reads it, and the others use its memory; a rank that
/// cannot see that memory reads a copy of its own. All ranks call it. Throws as io::read_graph.
Graph read_graph_once_a_node(const std::string& path, const io::GraphInfo& info,
                             const io::GraphColumns& columns = {}, unsigned threads = usable_cores());

}  // namespace sluice::apps
