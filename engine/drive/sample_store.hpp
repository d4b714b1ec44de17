// Samples of consecutive instances on the host, as they grow.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sampling/sink.hpp"

namespace sluice {

struct SampleStore {
  Instance first = 0;
  std::vector<std::uint64_t> edge_counts, seed_counts, vertex_counts;
  std::vector<Vertex> source, target, seeds, vertices;
  std::vector<std::int32_t> depth;
  std::vector<EdgeIndex> edge;

  void add_edge(const Vertex from, const Vertex to, std::uint32_t at_depth, EdgeIndex position) {
    source.push_back(from);
    target.push_back(to);
    depth.push_back(static_cast<std::int32_t>(at_depth));
    edge.push_back(position);
  }
  std::uint64_t bytes() const {
    return edge.size() * (2 * sizeof(Vertex) + sizeof(std::int32_t) + sizeof(EdgeIndex)) +
           (seeds.size() + vertices.size()) * sizeof(Vertex);
  }
  SampleBatch batch() const {
    return {first, edge_counts.size(), edge_counts, source,        target,  depth,
            edge,  seed_counts,        seeds,       vertex_counts, vertices};
  }
};

}  // namespace sluice
