// Samples of consecutive instances on the host, as they grow.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/batch/sink.hpp"
#include "engine/core/charged_vector.hpp"

namespace sluice::samples {

struct SampleStore {
  Instance first = 0;
  ChargedVector<std::uint64_t> edge_counts, seed_counts, vertex_counts;
  ChargedVector<Vertex> source, target, seeds, vertices;
  ChargedVector<std::int32_t> depth;
  ChargedVector<EdgeIndex> edge;

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

/// How much of a batch's results leaves at a time: one piece is written while the next grows, by doubling.
inline std::uint64_t sample_piece_bytes() {
  constexpr std::uint64_t kMost = 32u << 20, kLeast = 4u << 10;
  return std::clamp(host_budget().available() / 16, kLeast, kMost);
}

}  // namespace sluice::samples
