// A set of edges (engine/graph/edge_set.hpp) in device memory.
#pragma once

#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/edge_set.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/layout.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice {

/// True if a set of `edges` edges pays for walks that make `steps` steps.
bool edge_set_pays(const Device& device, Layout layout, std::uint64_t steps, std::uint64_t edges);

class EdgeSetInMemory {
 public:
  EdgeSetInMemory() = default;
  /// Makes an empty set; add() inserts the lists of `set`. Throws BudgetError.
  EdgeSetInMemory(const Device& device, const EdgeSet& set);
  /// A set of all edges of a graph that is whole on the device.
  static EdgeSetInMemory of_whole(ResidentGraph::Impl& graph);

  /// Inserts the lists of some vertices, from `lists`; if these are not all lists, it must name their hubs.
  void add(const GraphView& lists, const ListRange& range = {});
  /// Inserts the lists of a present partition.
  void add(const ResidentGraph::Impl& graph, const PageView& page, const ListRange& range);

  /// A view without memory if no set was made.
  const EdgeSet& view() const { return set_; }
  std::uint64_t bytes() const { return buckets_.bytes(); }

 private:
  const Device* device_ = nullptr;
  Buffer<EdgeSet::Bucket> buckets_;
  EdgeSet set_;
};

}  // namespace sluice
