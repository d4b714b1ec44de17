// Branching walks of a pool of vertices. Each step selects two entries in proportion to their degree, and
// three neighbours of each in proportion to the edge weights. The first neighbour of an entry replaces it in
// the pool; the others are appended.
#pragma once

#include "engine/samples/pool/pool.hpp"

struct WeightedPool {
  std::uint32_t seeds = 4;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint32_t frontier_size() const { return 2; }
  SLUICE_HD std::uint32_t neighbor_size() const { return 3; }

  SLUICE_HD std::uint64_t vertex_bias(const sluice::GraphView& graph, sluice::Vertex v) const {
    return graph.degree(v);
  }
  SLUICE_HD std::uint64_t edge_bias(const sluice::GraphView& graph, const sluice::Edge& edge) const {
    return graph.weight_bias(edge);
  }
};
