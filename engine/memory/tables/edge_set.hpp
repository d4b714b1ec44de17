// A set of edges (engine/graph/edge_set.hpp) in a device's memory.
#pragma once

#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/edge_set.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/layout.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice {

/// Does a set of so many edges pay, for walks of so many steps?
bool wants_edge_set(const Device& device, Layout layout, std::uint64_t steps, std::uint64_t edges);

class EdgeSetInMemory {
 public:
  EdgeSetInMemory() = default;
  /// Empty: add() puts in the lists of `set`. Throws BudgetError.
  EdgeSetInMemory(const Device& device, const EdgeSet& set);
  /// Of all edges of a graph that is whole and here.
  static EdgeSetInMemory of_whole(ResidentGraph::Impl& graph);

  /// The lists of some vertices, from a graph's memory; of lists that are not all, `lists` names the hubs.
  void add(const GraphView& lists, const ListRange& range = {});
  /// Those of a partition that is here.
  void add(const ResidentGraph::Impl& graph, const PageView& page, const ListRange& range);

  /// It has no memory where it was not made.
  const EdgeSet& view() const { return set_; }
  std::uint64_t bytes() const { return buckets_.bytes(); }

 private:
  const Device* device_ = nullptr;
  Buffer<EdgeSet::Bucket> buckets_;
  EdgeSet set_;
};

}  // namespace sluice
