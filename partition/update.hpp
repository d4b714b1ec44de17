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

/// What is done to a graph: the deletions first, then the insertions. Ids beyond the graph's in an insertion
/// are new vertices; those below them that no edge names become vertices too, without edges.
struct UpdateBatch {
  EdgeColumns insertions;
  EdgeColumns deletions;              ///< weights and times do not matter
  std::vector<std::int64_t> new_ids;  ///< where the graph keeps original ids: those of the new vertices
};

/// What became of the lines of a batch. An edge of an undirected graph counts once.
struct UpdateCounts {
  std::uint64_t inserted = 0;      ///< edges that are new
  std::uint64_t present = 0;       ///< insertions of what was there already: what is there stays as it is
  std::uint64_t deleted = 0;       ///< edges that went away; all copies, where there are several
  std::uint64_t missing = 0;       ///< deletions of what was not there
  std::uint64_t new_vertices = 0;  ///< appended after all others
};

/// What a batch changed, as stored (undirected: both directions), by (source, target): one by one, and packed
/// as it travels to a GPU.
class EdgeChanges {
 public:
  EdgeChanges() = default;
  EdgeChanges(ChargedVector<EdgeChange> each, PackedChanges packed)
      : each_(std::move(each)), packed_(std::move(packed)) {}

  std::size_t size() const { return each_.size(); }
  bool empty() const { return each_.empty(); }
  const EdgeChange& operator[](std::size_t i) const { return each_[i]; }
  const EdgeChange* begin() const { return each_.data(); }
  const EdgeChange* end() const { return each_.data() + each_.size(); }
  const PackedChanges& packed() const { return packed_; }

 private:
  ChargedVector<EdgeChange> each_;
  PackedChanges packed_;
};

struct UpdateResult {
  Graph graph;
  UpdateCounts counts;
  EdgeChanges changes;
};

/// Applies `batch` by one rewrite of the lists; in-edges too, where `graph` has them. New columns of edges
/// come from `memory`, and packed changes from `travel`, where they are given. Of a graph whose edges stay in
/// their file only the offsets are rewritten: its edges are changed as they are read (updated_edges.hpp), for
/// as long as the graph lives. Duplicates are settled as in a conversion: the first stays, (u,v) and (v,u) of
/// an undirected graph are one, a self-loop is stored once, and graphs with times keep all. The result has no
/// checksum: it has no file yet. Throws InputError for weights that are negative or not finite, and for more
/// vertices than a graph can have; BudgetError if the new lists do not fit beside the old ones of one
/// direction.
UpdateResult update_graph(Graph graph, const UpdateBatch& batch, unsigned threads,
                          HostMemory* memory = nullptr, HostMemory* travel = nullptr);

/// What update_graph() comes to, at most, as plans ask for it.
struct UpdateSize {
  std::uint64_t vertices = 0;    ///< of the graph then; 0: no more than it has
  std::uint64_t changes = 0;     ///< EdgeChanges::size()
  std::uint64_t most_bytes = 0;  ///< of host memory meanwhile, beside graph and batch
  std::uint64_t kept_bytes = 0;  ///< of these, what stays: changes, and what the graph has more
};
/// Of a batch of so many edges, with which the graph has so many vertices.
UpdateSize size_of_update(const Graph& graph, std::uint64_t lines, std::uint64_t vertices);
/// How many there are once the edges are in, of `vertices` before. Throws InputError.
std::uint64_t vertices_with(const EdgeColumns& insertions, std::uint64_t vertices);

}  // namespace sluice
