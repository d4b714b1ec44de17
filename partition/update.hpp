// Batches of insertions and deletions applied to a graph, in both directions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/host_memory.hpp"
#include "partition/graph.hpp"
#include "partition/packed_changes.hpp"

namespace sluice {

/// Edges as columns, in input order.
struct EdgeColumns {
  std::vector<Vertex> source, target;
  std::vector<float> weight;       ///< as long as `source` where the graph is weighted
  std::vector<std::int64_t> time;  ///< as long as `source` where the graph has times

  std::size_t size() const { return source.size(); }
};

/// Changes of a graph: the deletions first, then the insertions. Insertions with ids beyond the graph's add
/// vertices; ids below these that no edge names become vertices without edges.
struct UpdateBatch {
  EdgeColumns insertions;
  EdgeColumns deletions;              ///< weights and times are ignored
  std::vector<std::int64_t> new_ids;  ///< original ids of the new vertices, if the graph keeps them
};

/// Outcome of a batch, in edges. An edge of an undirected graph counts once.
struct UpdateCounts {
  std::uint64_t inserted = 0;      ///< new edges
  std::uint64_t present = 0;       ///< insertions of existing edges, which stay unchanged
  std::uint64_t deleted = 0;       ///< deleted edges; all copies, if there are several
  std::uint64_t missing = 0;       ///< deletions of edges that did not exist
  std::uint64_t new_vertices = 0;  ///< appended after all others
};

/// The entries that a batch changed, as stored (undirected: both directions), ordered by (source, target):
/// one by one, and packed for the copy to a GPU.
class EdgeChanges {
 public:
  EdgeChanges() = default;
  EdgeChanges(ChargedVector<EdgeChange> changes, PackedChanges packed)
      : changes_(std::move(changes)), packed_(std::move(packed)) {}

  std::size_t size() const { return changes_.size(); }
  bool empty() const { return changes_.empty(); }
  const EdgeChange& operator[](std::size_t i) const { return changes_[i]; }
  const EdgeChange* begin() const { return changes_.data(); }
  const EdgeChange* end() const { return changes_.data() + changes_.size(); }
  const PackedChanges& packed() const { return packed_; }

 private:
  ChargedVector<EdgeChange> changes_;
  PackedChanges packed_;
};

struct UpdateResult {
  Graph graph;
  UpdateCounts counts;
  EdgeChanges changes;
};

/// Applies `batch` in one rewrite of the lists, and of in-edges if `graph` has them. `memory` allocates new
/// columns of edges, and `packed_memory` packed changes, if given. If the edges stay in a file, only the
/// offsets are rewritten; the edges are changed when they are read (updated_edges.hpp), for as long as the
/// graph lives. Duplicates are treated as in a conversion: the first stays, (u,v) and (v,u) of an undirected
/// graph are one edge, a self-loop is stored once, and graphs with times keep all. A changed graph has no
/// checksum, since it has no file yet. Throws InputError for weights that are negative or not finite, and for
/// more vertices than a graph can have; BudgetError if the new lists do not fit beside the old ones of one
/// direction.
UpdateResult update_graph(Graph graph, const UpdateBatch& batch, unsigned threads,
                          HostMemory* memory = nullptr, HostMemory* packed_memory = nullptr);

/// Upper bounds of what update_graph() needs, for plans.
struct UpdateSize {
  std::uint64_t vertices = 0;    ///< of the updated graph; 0: no more than before
  std::uint64_t changes = 0;     ///< EdgeChanges::size()
  std::uint64_t peak_bytes = 0;  ///< of host memory meanwhile, besides graph and batch
  std::uint64_t kept_bytes = 0;  ///< of these, kept: the changes and the graph's growth
};
/// Bounds for a batch of `lines` edges, after which the graph has `vertices` vertices.
UpdateSize size_of_update(const Graph& graph, std::uint64_t lines, std::uint64_t vertices);
/// The number of vertices after the insertions, if there were `vertices` before. Throws InputError.
std::uint64_t vertices_with(const EdgeColumns& insertions, std::uint64_t vertices);

}  // namespace sluice
