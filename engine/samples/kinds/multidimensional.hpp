// Multidimensional random walk, or frontier sampling (Ribeiro and Towsley, IMC'10, algorithm 1): a pool of
// seeds; each step picks an entry with probability proportional to its degree and moves it to a uniform
// neighbour.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice::samples {

struct MultidimensionalWalk {
  std::uint32_t seeds = 1;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const { return graph.degree(v); }
};

}  // namespace sluice::samples
