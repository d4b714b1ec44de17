// A graph in host memory as compressed sparse rows, and the view that the engine reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "partition/edge_source.hpp"

namespace sluice {

/// Non-owning compressed sparse rows; pointers are all to host or all to device memory.
/// The list of v is targets[offsets[v] .. offsets[v+1]), ascending by id.
struct CsrView {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  const EdgeIndex* offsets = nullptr;  ///< [vertices + 1]
  const Vertex* targets = nullptr;     ///< [edges]
  const float* weights = nullptr;      ///< [edges], or null: every weight is 1
};

/// Owning compressed sparse rows.
struct Csr {
  HostArray<EdgeIndex> offsets;   ///< [vertices + 1]
  HostArray<Vertex> targets;      ///< [edges]; empty if they stay in a file (Graph::edge_source)
  HostArray<float> weights;       ///< [edges], or empty
  HostArray<std::int64_t> times;  ///< [edges], or empty

  std::uint64_t vertices() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::uint64_t edges() const { return offsets.empty() ? 0 : offsets[offsets.size() - 1]; }
  CsrView view() const {
    return {vertices(), edges(), offsets.data(), targets.data(), weights.empty() ? nullptr : weights.data()};
  }
};

/// A whole graph: out-edges, optionally in-edges, and the original ids of its vertices.
struct Graph {
  Csr out;
  Csr in;                                ///< empty offsets unless in-edges are stored
  HostArray<std::int64_t> original_ids;  ///< [vertices] if compacted, else empty
  bool directed = true;                  ///< false: each edge is stored in both directions
  bool weighted = false;
  std::uint64_t checksum = 0;  ///< of the graph's content, as stored in its file; names it in results
  std::string origin;          ///< where it came from
  std::shared_ptr<const EdgeSource> edge_source;     ///< reads targets and weights in a file, or null
  std::shared_ptr<const EdgeSource> in_edge_source;  ///< the same for `in`
  std::shared_ptr<PendingEdges>
      pending_edges;  ///< reads targets and weights of `out` into their arrays, or null

  std::uint64_t vertices() const { return out.vertices(); }
  std::uint64_t edges() const { return out.edges(); }
  /// Whether edges have times; false if there are no edges, since it is then unknown.
  bool timed() const {
    return !out.times.empty() || (edges() > 0 && edge_source != nullptr && edge_source->timed());
  }
};

}  // namespace sluice
