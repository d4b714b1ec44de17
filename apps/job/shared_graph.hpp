// The graph of a job with several ranks: one copy per machine.
#pragma once

#include <cstdint>
#include <string>

#include "io/graph_file/graph_file.hpp"
#include "partition/graph.hpp"

namespace sluice::apps {

/// The part of `bytes` charged to this rank, if the ranks of its machine share that memory.
std::uint64_t share_of_node(std::uint64_t bytes);

/// Calls use(array) for each array of the graph.
template <class Use>
void for_each_array(const Graph& graph, Use&& use) {
  for (const Csr* rows : {&graph.out, &graph.in})
    use(rows->offsets), use(rows->targets), use(rows->weights), use(rows->times);
  use(graph.original_ids);
}

/// Reads a graph file. One rank per machine reads it, and the others map its memory; a rank that cannot see
/// that memory reads its own copy. All ranks call it. Throws as io::read_graph.
Graph read_graph_once_per_node(const std::string& path, const io::GraphInfo& info,
                               const io::GraphColumns& columns = {}, unsigned threads = usable_cores());

}  // namespace sluice::apps
